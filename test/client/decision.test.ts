// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  challengeFrom,
  challengeOf,
  type DecisionStatement,
  type KeptSignature,
  placesOf,
  spellStatement,
  verifyDecision,
} from '../../proof/decision.ts'
import { relyingPartyOf, verifyAssertion } from '../../server/auth/credentials/passkeys/ceremonies.ts'
import { cbor, type Manner, Passkey } from '../support/authenticator.ts'
import { publicUrl } from '../support/service.ts'

const statement: DecisionStatement = {
  typ: 'countersign-decision',
  iss: publicUrl,
  action: 'approve',
  order: { id: '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57', version: 1, total: '1250.5' },
  documents: [],
  byId: 4,
  forId: null,
  hashes: { by: 'ab'.repeat(32), customer: 'cd'.repeat(32) },
  nonce: 'AAAA',
  until: '2026-11-27T19:45:00.000Z',
}
const party = relyingPartyOf(publicUrl) ?? assert.fail()
const statements = ['1', '1250.5', '3'].map((total) =>
  spellStatement({ ...statement, order: { ...statement.order, total } }),
)

/** The second of three statements under one touch. */
async function signedBy(passkey: Passkey, manner: Manner = {}): Promise<KeptSignature> {
  const challenge = await challengeOf(statements)
  const { id, response } = passkey.get({ challenge, rpId: party.id }, manner)
  const place = (await placesOf(statements))[1] ?? assert.fail()
  return { statement: statements[1] ?? '', ...place, credential: { id, response } }
}

/** Whether the library by which the service accepts a signature accepts it, and whether this check does. */
async function verdicts(passkey: Passkey, signature: KeptSignature) {
  const challenge = await challengeFrom(signature).catch(() => undefined)
  const { id, response } = signature.credential
  const publicKey = cbor(passkey.cose()).toString('base64url')
  const authenticatorData = Buffer.from(response.authenticatorData, 'base64url')
  const accepted = await verifyAssertion(
    party,
    { id, response: { ...response, userHandle: null } },
    { id: passkey.id, publicKey, isSynced: ((authenticatorData[32] ?? 0) & 0b1000) !== 0 },
    (seen) => (seen === challenge ? ({} as never) : undefined),
  )
  const verified = await verifyDecision(signature, { kty: '', ...passkey.jwk }).catch((error) => {
    assert.ok(error instanceof Error)
    return undefined
  })
  return [accepted !== undefined, verified !== undefined]
}

const passkeys = (['ES256', 'EdDSA', 'RS256'] as const).map((algorithm) => new Passkey({ algorithm }))
const [passkey = assert.fail()] = passkeys

describe('a signature is the same to the service and to the check without it', () => {
  const good: Record<string, Manner> = {
    'as usual': {},
    'by a key of one device': { flags: 0b101 },
    'by a key that may be synced, and is not': { flags: 0b1101 },
    'with a counter': { counter: 4_000_000_000 },
  }
  const bad: Record<string, Manner> = {
    'without a touch': { flags: 0b11100 },
    'without a check of the person': { flags: 0b11001 },
    'with neither': { flags: 0 },
    'by a key that is synced, and may not be': { flags: 0b10101 },
    'that announces extensions which are missing': { flags: 0b10011101 },
    'that announces a credential which is missing': { flags: 0b1011101 },
    'for another host': { rpId: 'other.example.com' },
    'for the domain above': { rpId: 'example.com' },
    'on another page': { origin: 'https://evil.example' },
    'on a page whose address begins the same': { origin: `${publicUrl}.evil.example` },
    'on a page whose address has a path': { origin: `${publicUrl}/` },
    'on a page of another port': { origin: `${publicUrl}:8443` },
    'on a page without TLS': { origin: publicUrl.replace('https', 'http') },
    'on a page in capitals': { origin: publicUrl.toUpperCase() },
    'in a frame of another page': { crossOrigin: true },
    'for an enrolment': { type: 'webauthn.create' },
    'for another challenge': { challenge: Buffer.alloc(32).toString('base64url') },
  }
  for (const each of passkeys) {
    it(`by ${each.algorithm}`, async () => {
      for (const [name, manner] of Object.entries(good)) {
        assert.deepEqual(await verdicts(each, await signedBy(each, manner)), [true, true], name)
      }
      for (const [name, manner] of Object.entries(bad)) {
        assert.deepEqual(await verdicts(each, await signedBy(each, manner)), [false, false], name)
      }
      const another = new Passkey({ algorithm: each.algorithm, id: each.id })
      assert.deepEqual(await verdicts(each, await signedBy(another)), [false, false])
    })

    it(`by ${each.algorithm}, when a byte of what was signed is altered`, async () => {
      const signature = await signedBy(each)
      const { credential, path } = signature
      const names = ['clientDataJSON', 'authenticatorData', 'signature'] as const
      const altered = names.flatMap((name) =>
        eachByteAltered(credential.response[name]).map((part) => ({
          ...signature,
          credential: { ...credential, response: { ...credential.response, [name]: part } },
        })),
      )
      const elsewhere = [
        ...path.flatMap((hash, at) =>
          eachByteAltered(hash, 'base64').map((part) => ({ ...signature, path: path.with(at, part) })),
        ),
        { ...signature, index: 0 },
        // A size whose paths to this place are as long leads to the same root.
        { ...signature, size: 2 },
        { ...signature, size: 5 },
        { ...signature, path: path.slice(1) },
        { ...signature, path: [...path, path[0] ?? ''] },
        ...statements.filter((_, at) => at !== 1).map((other) => ({ ...signature, statement: other })),
      ]
      for (const other of [...altered, ...elsewhere]) {
        const [accepted, verified] = await verdicts(each, other)
        // The library also takes other spellings of a signature in DER, so the service asks both.
        const isSpelling = other.credential.response.signature !== credential.response.signature
        assert.deepEqual([accepted && !isSpelling, verified], [false, false], JSON.stringify(other))
      }
    })
  }

  it('with more or fewer bytes than the authenticator data has', async () => {
    class Other extends Passkey {
      change = (data: Buffer) => data
      override data(...given: Parameters<Passkey['data']>) {
        return this.change(super.data(...given))
      }
    }
    const other = new Other()
    const changes = [
      (data: Buffer) => Buffer.concat([data, Buffer.of(0)]),
      (data: Buffer) => data.subarray(0, 36),
      (data: Buffer) => data.subarray(0, 32),
      () => Buffer.alloc(0),
    ]
    for (const change of changes) {
      other.change = change
      assert.deepEqual(await verdicts(other, await signedBy(other)), [false, false], String(change))
    }
  })
})

it('a statement and a public key have one spelling', async () => {
  const [text = ''] = [statements[1]]
  const spellings = [
    ` ${text}`,
    `${text}\n`,
    text.replace('"byId":4', '"byId": 4'),
    text.replace('"approve"', '"\\u0061pprove"'),
    text.replace('"byId":4', '"byId":4.0'),
    text.replace('"byId":4', '"byId":5,"byId":4'),
    text.replace('{', '{"also":true,'),
    text.replace('countersign-decision', 'countersign-decisio'),
  ]
  for (const spelling of spellings) {
    const challenge = await challengeOf([spelling])
    const { id, response } = passkey.get({ challenge, rpId: party.id })
    const signature = { statement: spelling, index: 0, size: 1, path: [], credential: { id, response } }
    await assert.rejects(verifyDecision(signature, { kty: '', ...passkey.jwk }), /not a statement/, spelling)
  }
  for (const each of passkeys) {
    const signature = await signedBy(each)
    const jwk: Record<string, string> = { kty: '', ...each.jwk } as never
    for (const name of Object.keys(jwk)) {
      for (const part of [...eachByteAltered(jwk[name] ?? '', 'utf8'), `${jwk[name]}=`, '']) {
        const key = { ...jwk, [name]: part } as { kty: string }
        await assert.rejects(verifyDecision(signature, key), Error, `${each.algorithm} ${name} ${part}`)
      }
    }
  }
})

it('the numbers of a signature by ES256 have one spelling', async () => {
  const begin = 4
  const der = ({ credential }: KeptSignature) => Buffer.from(credential.response.signature, 'base64url')
  let signature = await signedBy(passkey)
  while (der(signature).readUInt8(begin) === 0) signature = await signedBy(passkey)
  const [bytes, { credential }] = [der(signature), signature]
  const longer = Buffer.concat([bytes.subarray(0, begin), Buffer.of(0), bytes.subarray(begin)])
  for (const at of [1, 3]) longer.writeUInt8(longer.readUInt8(at) + 1, at)
  const response = { ...credential.response, signature: longer.toString('base64url') }
  const other = { ...signature, credential: { ...credential, response } }
  await assert.rejects(verifyDecision(other, { kty: '', ...passkey.jwk }), /is malformed/)
})

/** The text once for each byte that it stands for, with one bit of that byte changed. */
function eachByteAltered(text: string, encoding: BufferEncoding = 'base64url'): string[] {
  const bytes = Buffer.from(text, encoding)
  return [...bytes].map((byte, at) => Buffer.from(bytes.with(at, byte ^ 1)).toString(encoding))
}
