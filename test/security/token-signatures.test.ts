import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { newUser, type TestUser, tokenPair } from '../support/accounts.ts'
import { signBlock } from '../support/forge.ts'
import { type Service, startService } from '../support/service.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')
const blockBytes = 256
const sha256Identifier = '30 0d 06 09 60 86 48 01 65 03 04 02 01 05 00'

/** EMSA-PKCS1-v1_5 (RFC 8017 §9.2): 00 01, at least eight FF, 00, and at the very end what says the digest. */
function pad(digestInfo: Buffer, { start = '00 01', fill = 0xff, separator = '00' } = {}): Buffer {
  const head = hex(start)
  const between = blockBytes - head.length - hex(separator).length - digestInfo.length
  return Buffer.concat([head, Buffer.alloc(between, fill), hex(separator), digestInfo])
}

/** SEQUENCE { SEQUENCE { OID, NULL }, OCTET STRING }, each part to be replaced. */
function digestInfo(
  digest: Buffer,
  { head = '30 31', identifier = sha256Identifier, octets = '04 20', tail = '' } = {},
): Buffer {
  return Buffer.concat([hex(head), hex(identifier), hex(octets), digest, hex(tail)])
}

/** Each makes a block that is no encoding of the digest, though a lenient reader could find the digest in it. */
const faults: Record<string, (digest: Buffer) => Buffer> = {
  'a digest without what says which': (digest) => pad(digest),
  'a digest in an octet string alone': (digest) => pad(Buffer.concat([hex('04 20'), digest])),
  'no parameters of the algorithm': (digest) =>
    pad(digestInfo(digest, { head: '30 2f', identifier: '30 0b 06 09 60 86 48 01 65 03 04 02 01' })),
  'parameters with content': (digest) =>
    pad(digestInfo(digest, { head: '30 32', identifier: '30 0e 06 09 60 86 48 01 65 03 04 02 01 05 01 00' })),
  'parameters of another type': (digest) =>
    pad(digestInfo(digest, { identifier: '30 0d 06 09 60 86 48 01 65 03 04 02 01 04 00' })),
  'a length in the long form': (digest) => pad(digestInfo(digest, { head: '30 81 31' })),
  'a length with a leading zero': (digest) => pad(digestInfo(digest, { head: '30 82 00 31' })),
  'an indefinite length': (digest) => pad(digestInfo(digest, { head: '30 80', tail: '00 00' })),
  'a length that is one too great': (digest) => pad(digestInfo(digest, { head: '30 32' })),
  'a length that is one too small': (digest) => pad(digestInfo(digest, { head: '30 30' })),
  'a length of 2^32 and what is right': (digest) => pad(digestInfo(digest, { head: '30 85 01 00 00 00 31' })),
  'a set for the sequence': (digest) => pad(digestInfo(digest, { head: '31 31' })),
  'a constructed octet string': (digest) => pad(digestInfo(digest, { octets: '24 20' })),
  'a bit string for the octets': (digest) => pad(digestInfo(digest, { octets: '03 20' })),
  'octets behind the digest, counted': (digest) => pad(digestInfo(digest, { head: '30 33', tail: '05 00' })),
  'octets behind the digest, not counted': (digest) => pad(digestInfo(digest, { tail: '05 00' })),
  'many octets behind, and little filling (the forgery for exponent 3)': (digest) => {
    const start = Buffer.concat([hex('00 01 ff ff ff ff ff ff ff ff 00'), digestInfo(digest)])
    return Buffer.concat([start, Buffer.alloc(blockBytes - start.length, 0x5a)])
  },
  'the identifier of SHA-1': (digest) =>
    pad(digestInfo(digest, { head: '30 2d', identifier: '30 09 06 05 2b 0e 03 02 1a 05 00' })),
  'the identifier of SHA-384': (digest) =>
    pad(digestInfo(digest, { identifier: '30 0d 06 09 60 86 48 01 65 03 04 02 02 05 00' })),
  'the identifier of SHA-512/256': (digest) =>
    pad(digestInfo(digest, { identifier: '30 0d 06 09 60 86 48 01 65 03 04 02 06 05 00' })),
  'the identifier of a signature algorithm': (digest) =>
    pad(digestInfo(digest, { identifier: '30 0d 06 09 2a 86 48 86 f7 0d 01 01 0b 05 00' })),
  'a digest cut by one octet': (digest) =>
    pad(digestInfo(digest.subarray(0, 31), { head: '30 30', octets: '04 1f' })),
  'a digest of no octets': () => pad(digestInfo(Buffer.alloc(0), { head: '30 11', octets: '04 00' })),
  'the digest of something else': () => pad(digestInfo(createHash('sha256').update('else').digest())),
  'block type 0': (digest) => pad(digestInfo(digest), { start: '00 00', fill: 0 }),
  'block type 0, filled with FF': (digest) => pad(digestInfo(digest), { start: '00 00' }),
  'block type 2, as of an encryption': (digest) => pad(digestInfo(digest), { start: '00 02' }),
  'a first octet that is not zero': (digest) => pad(digestInfo(digest), { start: '01 01' }),
  'filling of zeros': (digest) => pad(digestInfo(digest), { fill: 0 }),
  'filling of 5A': (digest) => pad(digestInfo(digest), { fill: 0x5a }),
  'no zero behind the filling': (digest) => pad(digestInfo(digest), { separator: 'ff' }),
  'two zeros behind the filling': (digest) => pad(digestInfo(digest), { separator: '00 00' }),
  'nothing at all': () => Buffer.alloc(blockBytes),
  one: () => Buffer.concat([Buffer.alloc(blockBytes - 1), hex('01')]),
}

describe('signatures of access tokens', () => {
  let service: Service
  let user: TestUser
  let content: string
  let digest: Buffer
  let block: Buffer
  before(async () => {
    service = await startService()
    user = await newUser(service)
    const { accessToken } = await tokenPair(service, user)
    content = accessToken.split('.').slice(0, 2).join('.')
    digest = createHash('sha256').update(content).digest()
    block = pad(digestInfo(digest))
  })
  after(() => service.close())

  const statusOf = async (bearer: string) =>
    (await service.client().withBearer(bearer).get('/v1/auth/me')).status
  const signed = (one: Buffer) => signBlock(content, one, service.keys.privateKey)

  it('are accepted for the one right encoding, made by hand (so every refusal below has one cause)', async () => {
    assert.equal(await statusOf(signed(block)), 200)
  })

  for (const [what, make] of Object.entries(faults)) {
    it(`are refused for ${what}, by our own key`, async () => {
      assert.equal(await statusOf(signed(make(digest))), 401)
    })
  }

  it('are refused when any one octet of the encoding differs in one bit', async () => {
    const changed = Array.from(block, (octet, at) => {
      const other = Buffer.from(block)
      other[at] = octet ^ (1 << (at % 8))
      // The highest octet may not reach the modulus.
      if (at === 0) other[at] = 1
      return other
    })
    assert.equal(changed.length, blockBytes)
    const statuses = []
    for (const one of changed) statuses.push(await statusOf(signed(one)))
    assert.deepEqual(new Set(statuses), new Set([401]))
  })

  it('are refused with octets before or behind, or one octet less', async () => {
    const good = signed(block)
    assert.equal(await statusOf(good), 200)
    const signature = Buffer.from(good.split('.')[2] ?? '', 'base64url')
    const others = [
      Buffer.concat([hex('00'), signature]),
      Buffer.concat([signature, hex('00')]),
      signature.subarray(0, -1),
      signature.subarray(1),
      Buffer.concat([signature, signature]),
      Buffer.alloc(blockBytes),
      Buffer.alloc(blockBytes, 0xff),
    ]
    const statuses = await Promise.all(
      others.map((one) => statusOf(`${content}.${one.toString('base64url')}`)),
    )
    assert.deepEqual(new Set(statuses), new Set([401]))
  })

  it('are refused when they are as great as the modulus or greater', async () => {
    const modulus = Buffer.from(String(service.keys.jwks.keys[0]?.n), 'base64url')
    const number = (bytes: Buffer) => BigInt(`0x${bytes.toString('hex')}`)
    const signature = Buffer.from(signed(block).split('.')[2] ?? '', 'base64url')
    const sum = (number(signature) + number(modulus)).toString(16)
    const beyond = hex(sum.padStart(sum.length + (sum.length % 2), '0'))
    assert.equal(await statusOf(`${content}.${modulus.toString('base64url')}`), 401)
    assert.equal(await statusOf(`${content}.${beyond.toString('base64url')}`), 401)
  })
})
