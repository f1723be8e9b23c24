import assert from 'node:assert/strict'
import { createHmac, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { CompactEncrypt, CompactSign, FlattenedSign, GeneralSign } from 'jose'
import { newUser, tokenPair } from '../support/accounts.ts'
import { decode, encode, type Members, signText } from '../support/forge.ts'
import { setUp, testService } from '../support/service.ts'

/**
 * What test/auth/access-token.test.ts does not try: rarer members of the header, doubled names, other
 * wrappings.
 */
describe('headers of access tokens', () => {
  const service = testService()
  const user = setUp(() => newUser(service, { roles: ['Viewer'] }))
  let header: Members
  let claims: Members
  let trap: Server
  let visits = 0
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 })
  before(async () => {
    const parts = (await tokenPair(service, user)).accessToken.split('.')
    header = decode(parts[0])
    claims = decode(parts[1])
    trap = createServer((_, response) => {
      visits += 1
      response.end(JSON.stringify({ keys: [stranger.publicKey.export({ format: 'jwk' })] }))
    })
    await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve))
  })
  after(() => void trap.close())

  const me = (bearer: string) => service.client().withBearer(bearer).get('/v1/auth/me')
  const statusOf = async (bearer: string) => (await me(bearer)).status
  const ours = () => service.keys.privateKey
  const signed = (changes: Members, key = ours()) =>
    signText(JSON.stringify({ ...header, ...changes }), JSON.stringify(claims), key)
  const trapAddress = (path: string) => `http://127.0.0.1:${(trap.address() as AddressInfo).port}/${path}`

  it('are accepted as issued (so every refusal below has one cause)', async () => {
    assert.equal(await statusOf(signed({})), 200)
  })

  describe('are refused', () => {
    const headers: [what: string, changes: Members][] = [
      ...['RS256 ', ' RS256', 'rs256', 'Rs256', 'RS256\0', 'RSA', 'RS1', 'RS', ''].map(
        (alg): [string, Members] => [`alg ${JSON.stringify(alg)}`, { alg }],
      ),
      ...[['RS256'], { RS256: true }, 256, true, null].map((alg): [string, Members] => [
        `alg ${JSON.stringify(alg)}`,
        { alg },
      ]),
      ...['none ', ' none', 'no\u006ee', 'none\0', 'ｎｏｎｅ', '\u200bnone'].map((alg): [string, Members] => [
        `alg ${JSON.stringify(alg)}, signed by us`,
        { alg },
      ]),
      ['b64 false, named in crit', { b64: false, crit: ['b64'] }],
      ['an extension that nobody knows, named in crit', { crit: ['x-role'], 'x-role': 'Admin' }],
      ['crit that names a member of the header', { crit: ['alg'] }],
      ['crit of nothing', { crit: [] }],
      ['crit that is no list', { crit: 'exp' }],
      ['kid __proto__', { kid: '__proto__' }],
      ['kid constructor', { kid: 'constructor' }],
      ['kid as a list', { kid: ['x'] }],
      ['kid as an object', { kid: { toString: 'x' } }],
      ['kid with a NUL behind ours', { kid: 'OURS\0' }],
      ['kid with a space behind ours', { kid: 'OURS ' }],
      ['kid as a file', { kid: 'file:///dev/null' }],
      ['kid as a command', { kid: '|cat /dev/null' }],
      ['typ of ours with a parameter', { typ: 'at+jwt; x=1' }],
      ['typ of ours with a space', { typ: ' at+jwt' }],
      ['typ as a list', { typ: ['at+jwt'] }],
    ]
    for (const [what, changes] of headers) {
      it(what, async () => {
        const kid =
          typeof changes.kid === 'string'
            ? { kid: changes.kid.replace('OURS', String(header.kid)) }
            : undefined
        assert.equal(await statusOf(signed({ ...changes, ...kid })), 401)
      })
    }

    it('a header that is not an object, or not JSON', async () => {
      const wrong = ['"x"', '[]', 'null', '1', '', '{', `${JSON.stringify(header)} x`, `\ufeff{}`]
      const payload = JSON.stringify(claims)
      const statuses = await Promise.all(wrong.map((text) => statusOf(signText(text, payload, ours()))))
      assert.deepEqual(new Set(statuses), new Set([401]))
    })

    it('a payload that is not an object, or not JSON', async () => {
      const wrong = ['"x"', '[]', 'null', '1', '', '{', `${JSON.stringify(claims)} x`, '[{}]']
      const text = JSON.stringify(header)
      const statuses = await Promise.all(wrong.map((payload) => statusOf(signText(text, payload, ours()))))
      assert.deepEqual(new Set(statuses), new Set([401]))
    })

    it('HS256 keyed with any text of our public key that a library could mistake for a secret', async () => {
      const key = createPublicKey(ours())
      const jwk = key.export({ format: 'jwk' })
      const spki = key.export({ format: 'pem', type: 'spki' }).toString()
      const texts = [
        spki,
        key.export({ format: 'pem', type: 'pkcs1' }),
        spki.trim(),
        spki.replaceAll('\n', '\r\n'),
        spki.replaceAll(/-----[^-]+-----|\n/g, ''),
        key.export({ format: 'der', type: 'spki' }),
        key.export({ format: 'der', type: 'pkcs1' }),
        JSON.stringify(jwk),
        JSON.stringify(service.keys.jwks.keys[0]),
        Buffer.from(String(jwk.n), 'base64url'),
        String(header.kid),
        service.antiforgeryKey,
      ]
      for (const [alg, hash] of Object.entries({ HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' })) {
        const content = `${encode({ ...header, alg })}.${encode(claims)}`
        const forged = texts.map((text) => createHmac(hash, text).update(content).digest('base64url'))
        const statuses = await Promise.all(forged.map((mac) => statusOf(`${content}.${mac}`)))
        assert.deepEqual(new Set(statuses), new Set([401]))
      }
    })

    it('keys of other kinds under our kid: EC, Ed25519, RSA-PSS', async () => {
      const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
      const edwards = generateKeyPairSync('ed25519').privateKey
      const byEc = new CompactSign(Buffer.from(JSON.stringify(claims)))
        .setProtectedHeader({ ...header, alg: 'ES256' })
        .sign(ec)
      const byEdwards = new CompactSign(Buffer.from(JSON.stringify(claims)))
        .setProtectedHeader({ ...header, alg: 'EdDSA' })
        .sign(edwards)
      const bySalted = new CompactSign(Buffer.from(JSON.stringify(claims)))
        .setProtectedHeader({ ...header, alg: 'PS512' })
        .sign(ours())
      for (const forged of await Promise.all([byEc, byEdwards, bySalted]))
        assert.equal(await statusOf(forged), 401)
    })

    it('a token encrypted to our public key, whatever is inside', async () => {
      const inside = [JSON.stringify(claims), signed({}), signed({}, stranger.privateKey)]
      for (const alg of ['RSA-OAEP', 'RSA-OAEP-256']) {
        for (const text of inside) {
          const forged = await new CompactEncrypt(Buffer.from(text))
            .setProtectedHeader({ alg, enc: 'A256GCM', kid: String(header.kid), typ: 'at+jwt', cty: 'JWT' })
            .encrypt(createPublicKey(ours()))
          assert.equal(await statusOf(forged), 401)
        }
      }
    })

    it('our own signature in the JSON serialisations, flat and general', async () => {
      const payload = Buffer.from(JSON.stringify(claims))
      const flat = await new FlattenedSign(payload)
        .setProtectedHeader({ ...header, alg: 'RS256' })
        .sign(ours())
      const general = new GeneralSign(payload)
      general.addSignature(ours()).setProtectedHeader({ ...header, alg: 'RS256' })
      for (const form of [flat, await general.sign()]) {
        const text = JSON.stringify(form)
        assert.equal(await statusOf(text), 401)
        assert.equal(await statusOf(Buffer.from(text).toString('base64url')), 401)
      }
    })

    it('keys and certificates of a stranger that the header carries or names: none is fetched', async () => {
      const jwk = stranger.publicKey.export({ format: 'jwk' })
      const der = stranger.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
      const addresses = [
        trapAddress('keys'),
        `file:///proc/self/environ`,
        trapAddress('x').replace('http', 'HTTP'),
      ]
      const bringing: Members[] = [
        { jwk },
        { jwk: { ...jwk, kid: header.kid, alg: 'RS256' } },
        { x5c: [der] },
        { x5t: 'AAAAAAAAAAAAAAAAAAAAAAAAAAA' },
        ...addresses.flatMap((address) => [
          { jku: address },
          { x5u: address },
          { kid: address },
          { iss: address, jku: `${address}/.well-known/jwks.json` },
        ]),
      ]
      for (const members of bringing) {
        assert.equal(await statusOf(signed(members, stranger.privateKey)), 401, JSON.stringify(members))
      }
      const claimed = { ...claims, iss: trapAddress('').slice(0, -1) }
      const forged = signText(JSON.stringify(header), JSON.stringify(claimed), stranger.privateKey)
      assert.equal(await statusOf(forged), 401)
      assert.equal(visits, 0)
    })

    it('a name given twice in header or claims: only the last one counts, as in JSON.parse', async () => {
      const twice = (text: string, first: string) => text.replace('{', `{${first},`)
      const text = JSON.stringify(header)
      const payload = JSON.stringify(claims)
      const send = (a: string, b: string) => me(signText(a, b, ours()))
      const admin = await send(text, twice(payload, '"roles":["Admin"],"sub":"1"'))
      assert.equal(admin.status, 200)
      assert.deepEqual([admin.body.id, admin.body.roles], [user.id, ['Viewer']])
      const endless = JSON.stringify({ ...claims, exp: 1 })
      assert.equal((await send(text, twice(endless, `"exp":${claims.exp}`))).status, 401)
      const unsigned = JSON.stringify({ ...header, alg: 'none' })
      assert.equal((await send(twice(unsigned, '"alg":"RS256"'), payload)).status, 401)
      const plain = JSON.stringify({ ...header, typ: 'JWT' })
      assert.equal((await send(twice(plain, '"typ":"at+jwt"'), payload)).status, 401)
    })

    it('names that could reach a prototype grant nothing', async () => {
      const payload = JSON.stringify({ ...claims, roles: undefined }).replace(
        '{',
        '{"__proto__":{"roles":["Admin"]},"constructor":{"prototype":{"roles":["Admin"]}},',
      )
      assert.equal(await statusOf(signText(JSON.stringify(header), payload, ours())), 401)
    })

    it('roles that no table has carry no permission, even if named like members of objects', async () => {
      const roles = [
        ...'__proto__ constructor admin ADMIN Orders.Create *'.split(' '),
        'Admin ',
        "x' or 'a'='a",
      ]
      const bearer = signText(JSON.stringify(header), JSON.stringify({ ...claims, roles }), ours())
      const caller = service.client().withBearer(bearer)
      assert.deepEqual((await caller.get('/v1/auth/me/permissions')).body, { permissions: [] })
      assert.equal((await caller.get('/v1/orders')).status, 403)
    })
  })

  it('a hundred wrong tokens do not affect the right one', async () => {
    const good = signed({ kid: header.kid })
    const flood = Array.from(
      { length: 100 },
      (_, index) => `${good.slice(0, -9)}${String(index).padStart(9, 'A')}`,
    )
    const statuses = []
    for (const one of flood) statuses.push(await statusOf(one))
    assert.deepEqual(new Set(statuses), new Set([401]))
    assert.equal(await statusOf(good), 200)
    const other = sign('sha256', Buffer.from('x'), ours()).toString('base64url')
    assert.equal(await statusOf(`${good.split('.').slice(0, 2).join('.')}.${other}`), 401)
  })
})
