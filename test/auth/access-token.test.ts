import assert from 'node:assert/strict'
import {
  constants,
  createHash,
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import jwt from 'jsonwebtoken'
import { JwksClient } from 'jwks-rsa'
import { loadSigningKeys, type SigningKeys } from '../../server/auth/tokens/keys.ts'
import { ConfigurationError } from '../../server/config.ts'
import {
  newClient,
  newUser,
  serviceToken,
  type TestClient,
  type TestUser,
  tokenPair,
} from '../support/accounts.ts'
import { type Instance, startInstance } from '../support/instance.ts'
import { exchange, request } from '../support/raw.ts'
import { publicUrl, type Service, startService } from '../support/service.ts'

type Members = Record<string, unknown>

const encode = (members: Members) => Buffer.from(JSON.stringify(members)).toString('base64url')
const decode = (part = ''): Members => JSON.parse(Buffer.from(part, 'base64url').toString())
const parts = (token: string) => token.split('.') as [header: string, payload: string, signature: string]

/** A compact JWS by node:crypto alone, so that no library of the service is its own witness. */
function forge(header: Members, claims: Members, key: KeyObject, hash = 'sha256', pss = false): string {
  const content = `${encode(header)}.${encode(claims)}`
  const padding = pss
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : {}
  return `${content}.${sign(hash, Buffer.from(content), { key, ...padding }).toString('base64url')}`
}

const makeKey = (modulusLength = 2048) => generateKeyPairSync('rsa', { modulusLength }).privateKey
const pem = (key: KeyObject, type: 'pkcs1' | 'pkcs8' = 'pkcs8') =>
  key.export({ format: 'pem', type }).toString()

describe('access tokens', () => {
  let service: Service
  let user: TestUser
  let client: TestClient
  let token: string
  let header: Members
  let claims: Members
  let folder: string
  const stranger = makeKey()
  before(async () => {
    service = await startService()
    user = await newUser(service, { roles: ['Admin', 'Viewer'] })
    client = await newClient(service)
    token = (await tokenPair(service, user)).accessToken
    header = decode(parts(token)[0])
    claims = decode(parts(token)[1])
    folder = await mkdtemp(join(tmpdir(), 'countersign-keys-'))
  })
  after(async () => {
    await service.close()
    await rm(folder, { recursive: true })
  })

  const statusOf = async (bearer: string, at: { client(): ReturnType<Service['client']> } = service) =>
    (await at.client().withBearer(bearer).get('/v1/auth/me')).status
  const ours = () => service.keys.privateKey
  const now = () => Math.floor(service.now() / 1000)

  async function verifyElsewhere(
    bearer: string,
    baseUrl: string,
    algorithm: jwt.Algorithm,
  ): Promise<jwt.Jwt> {
    const keys = new JwksClient({ jwksUri: `${baseUrl}/.well-known/jwks.json` })
    const key = await keys.getSigningKey(String(decode(parts(bearer)[0]).kid))
    return jwt.verify(bearer, key.getPublicKey(), {
      algorithms: [algorithm],
      issuer: publicUrl,
      audience: publicUrl,
      complete: true,
      clockTolerance: 5,
    })
  }

  async function keyFile(name: string, text: string): Promise<string> {
    const file = join(folder, name)
    await writeFile(file, text)
    return file
  }

  describe('as issued', () => {
    it('have the header alg, kid and typ at+jwt, and nothing else', () => {
      assert.deepEqual(header, { alg: 'RS256', kid: service.keys.kid, typ: 'at+jwt' })
    })

    it('have as kid the RFC 7638 thumbprint of the published key', async () => {
      const { body } = await service.client().get('/.well-known/jwks.json')
      const { e, kty, n, kid } = body.keys[0]
      const thumbprint = createHash('sha256').update(JSON.stringify({ e, kty, n })).digest('base64url')
      assert.equal(header.kid, thumbprint)
      assert.equal(kid, thumbprint)
    })

    it('have for a user exactly the claims of the contract', () => {
      const { iat, exp, jti, ...rest } = claims
      assert.deepEqual(rest, {
        iss: publicUrl,
        aud: publicUrl,
        sub: String(user.id),
        client_id: 'countersign',
        roles: ['Admin', 'Viewer'],
        preferred_username: user.userName,
      })
      assert.equal(Number(exp) - Number(iat), 900)
      assert.ok(Math.abs(Number(iat) - now()) <= 5)
      assert.equal(typeof jti, 'string')
    })

    it('have for a service exactly the claims of the contract', async () => {
      const { iat, exp, jti, ...rest } = decode(parts(await serviceToken(service, client))[1])
      assert.deepEqual(rest, {
        iss: publicUrl,
        aud: publicUrl,
        sub: client.clientId,
        client_id: client.clientId,
        roles: ['Operator'],
        preferred_username: client.clientId,
      })
      assert.equal(Number(exp) - Number(iat), 3600)
      assert.equal(typeof jti, 'string')
    })

    it('have a jti of their own each', async () => {
      const pairs = await Promise.all([tokenPair(service, user), tokenPair(service, user)])
      const ids = pairs.map(({ accessToken }) => decode(parts(accessToken)[1]).jti)
      assert.equal(new Set(ids).size, 2)
    })

    it('name PUBLIC_URL without its trailing slash', async (t) => {
      const other = await startService({ env: { PUBLIC_URL: `${publicUrl}/` } })
      t.after(() => other.close())
      const caller = await other.bearer('viewer')
      const { iss, aud } = decode((caller.headers.authorization ?? '').split('.')[1])
      assert.deepEqual([iss, aud], [publicUrl, publicUrl])
    })

    it('are verified by jsonwebtoken with the keys that jwks-rsa fetches from the live address', async () => {
      for (const bearer of [token, await serviceToken(service, client)]) {
        const verified = await verifyElsewhere(bearer, service.baseUrl, 'RS256')
        assert.deepEqual(verified.payload, decode(parts(bearer)[1]))
      }
    })
  })

  describe('the key set', () => {
    it('has public members only, an ETag, an hour of caching, and is open to every origin', async () => {
      const answer = await service.client().get('/.well-known/jwks.json')
      assert.equal(answer.status, 200)
      assert.deepEqual(Object.keys(answer.body), ['keys'])
      assert.equal(answer.body.keys.length, 1)
      const { n, kid, ...rest } = answer.body.keys[0]
      assert.deepEqual(rest, { kty: 'RSA', use: 'sig', alg: 'RS256', e: 'AQAB' })
      assert.equal(Buffer.from(n, 'base64url').length, 256)
      assert.equal(kid, service.keys.kid)
      assert.equal(answer.headers.get('cache-control'), 'public, max-age=3600')
      assert.equal(answer.headers.get('access-control-allow-origin'), '*')
      const etag = answer.headers.get('etag') ?? ''
      assert.match(etag, /^"[^"]+"$/)
      const again = await service.client().get('/.well-known/jwks.json', { 'if-none-match': etag })
      assert.equal(again.status, 304)
    })

    it('is cached for 30 seconds in development, where keys are made per run', async (t) => {
      const development = await startService({ development: true })
      t.after(() => development.close())
      const answer = await development.client().get('/.well-known/jwks.json')
      assert.equal(answer.headers.get('cache-control'), 'public, max-age=30')
      const runs = await Promise.all([loadSigningKeys([], 'RS256'), loadSigningKeys([], 'RS256')])
      assert.notEqual(runs[0].kid, runs[1].kid)
    })
  })

  describe('are accepted', () => {
    it('when another program signed the same header and claims with our key (so every refusal below has one cause)', async () => {
      assert.equal(await statusOf(forge(header, claims, ours())), 200)
    })

    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) {
      it(`with the scheme written ${scheme}`, async () => {
        const answer = await service.client().get('/v1/auth/me', { authorization: `${scheme} ${token}` })
        assert.equal(answer.status, 200)
      })
    }

    it('up to 5 seconds after exp and no longer, also when the signature was verified before', async () => {
      const { accessToken } = await tokenPair(service, user)
      const end = Number(decode(parts(accessToken)[1]).exp) * 1000
      assert.equal(await statusOf(accessToken), 200)
      service.advance(end + 4_000 - service.now())
      assert.equal(await statusOf(accessToken), 200)
      const fresh = forge(header, { ...claims, exp: end / 1000, jti: 'not seen before' }, ours())
      assert.equal(await statusOf(fresh), 200)
      service.advance(1_000)
      assert.equal(await statusOf(accessToken), 401)
      assert.equal(
        await statusOf(forge(header, { ...claims, exp: end / 1000, jti: 'nor this' }, ours())),
        401,
      )
    })

    it('up to 5 seconds before iat and no earlier', async () => {
      const dated = (iat: number) => forge(header, { ...claims, iat, exp: iat + 900 }, ours())
      assert.equal(await statusOf(dated(now() + 4)), 200)
      assert.equal(await statusOf(dated(now() + 7)), 401)
    })
  })

  describe('are refused', () => {
    /** Each differs from an accepted token in one point. */
    const attacks: [what: string, make: () => string][] = []
    const attack = (what: string, make: () => string) => void attacks.push([what, make])
    const current = (): Members => ({ ...claims, iat: now(), exp: now() + 900 })
    const withClaims = (changes: Members) => () => forge(header, { ...current(), ...changes }, ours())
    const withHeader = (changes: Members) => () => forge({ ...header, ...changes }, current(), ours())

    for (const alg of ['none', 'None', 'NONE', 'nOnE']) {
      const unsigned = () => `${encode({ ...header, alg })}.${encode(current())}`
      attack(`alg ${alg} without a signature`, () => `${unsigned()}.`)
      attack(`alg ${alg} with a signature of ours`, withHeader({ alg }))
      attack(`alg ${alg} in two parts`, unsigned)
    }
    for (const type of ['spki', 'pkcs1'] as const) {
      attack(`HS256 keyed with our public key as ${type} PEM`, () =>
        hmacForged(createPublicKey(ours()).export({ type, format: 'pem' })),
      )
    }
    attack('HS256 keyed with our modulus', () => hmacForged(String(service.keys.jwks.keys[0]?.n)))
    attack('HS256 keyed with the key set', () => hmacForged(JSON.stringify(service.keys.jwks)))
    attack('HS256 keyed with nothing', () => hmacForged(''))
    attack('RS384 by our key', () => forge({ ...header, alg: 'RS384' }, current(), ours(), 'sha384'))
    attack('RS512 by our key', () => forge({ ...header, alg: 'RS512' }, current(), ours(), 'sha512'))
    attack('PS256 by our key', () => forge({ ...header, alg: 'PS256' }, current(), ours(), 'sha256', true))
    attack('alg RS256 over a PS256 signature', () => forge(header, current(), ours(), 'sha256', true))
    attack('no alg', withHeader({ alg: undefined }))
    for (const typ of ['JWT', 'jwt', 'id_token+jwt', 'at+jws', '', undefined, null, 1]) {
      attack(`typ ${JSON.stringify(typ)}`, withHeader({ typ }))
    }
    for (const kid of ['', 'x', '../../../dev/null', "' or 1=1 --", 'k'.repeat(5_000), 7, null]) {
      attack(`kid ${String(kid).slice(0, 20)} (${String(kid).length})`, withHeader({ kid }))
    }
    attack('no kid', withHeader({ kid: undefined }))
    attack('crit', withHeader({ crit: ['exp'] }))
    attack('another RSA key under our kid', () => forge(header, current(), stranger))
    attack('another RSA key brought in jwk', () =>
      forge({ ...header, jwk: createPublicKey(stranger).export({ format: 'jwk' }) }, current(), stranger),
    )
    attack('another RSA key brought in jwk, without our kid', () => {
      const jwk = createPublicKey(stranger).export({ format: 'jwk' })
      return forge({ alg: 'RS256', typ: 'at+jwt', jwk }, current(), stranger)
    })
    for (const iss of [
      `${publicUrl}/`,
      'https://evil.example',
      publicUrl.toUpperCase(),
      '',
      undefined,
      [publicUrl],
    ]) {
      attack(`iss ${JSON.stringify(iss)}`, withClaims({ iss }))
    }
    for (const aud of [
      `${publicUrl}/`,
      'https://evil.example',
      '',
      undefined,
      [],
      ['https://evil.example'],
      1,
    ]) {
      attack(`aud ${JSON.stringify(aud)}`, withClaims({ aud }))
    }
    for (const exp of [undefined, null, 'tomorrow', '99999999999', {}, 0, -1]) {
      attack(`exp ${JSON.stringify(exp)}`, withClaims({ exp }))
    }
    for (const iat of [undefined, null, '0', {}, 99_999_999_999]) {
      attack(`iat ${JSON.stringify(iat)}`, withClaims({ iat }))
    }
    for (const sub of [
      undefined,
      null,
      '',
      1,
      '0',
      '-1',
      '01',
      '1e0',
      ' 1',
      '1 ',
      '99999999999',
      '9999999',
      'nobody',
      'admin',
    ]) {
      attack(`sub ${JSON.stringify(sub)}`, withClaims({ sub }))
    }
    attack('sub the numeric id of a service', () => withClaims({ sub: String(client.id) })())
    attack('sub the name of a user', () => withClaims({ sub: user.userName })())
    attack('sub the clientId of a service in another case', () =>
      withClaims({ sub: client.clientId.toUpperCase() })(),
    )
    attack('nbf tomorrow', () => withClaims({ nbf: now() + 86_400 })())
    for (const roles of [undefined, 'Admin', [1], { Admin: true }]) {
      attack(`roles ${JSON.stringify(roles)}`, withClaims({ roles }))
    }
    attack('a payload that is no object', () => {
      const content = `${parts(token)[0]}.${Buffer.from('"x"').toString('base64url')}`
      return `${content}.${sign('sha256', Buffer.from(content), ours()).toString('base64url')}`
    })
    attack('five parts, as of an encrypted one', () => `${token}.AAAA.AAAA`)
    attack('two parts', () => parts(token).slice(0, 2).join('.'))
    attack('no part', () => '.')
    attack('an empty signature', () => `${parts(token).slice(0, 2).join('.')}.`)

    function hmacForged(key: string | Buffer): string {
      const content = `${encode({ ...header, alg: 'HS256' })}.${encode(current())}`
      return `${content}.${createHmac('sha256', key).update(content).digest('base64url')}`
    }

    for (const [what, make] of attacks) {
      it(what, async () => {
        assert.equal(await statusOf(forge(header, current(), ours())), 200)
        const answer = await service.client().withBearer(make()).get('/v1/auth/me')
        assert.equal(answer.status, 401)
        assert.equal(answer.body.code, 'authentication-required')
        assert.match(answer.headers.get('www-authenticate') ?? '', /error="invalid_token"$/)
      })
    }

    it('any of them in which a part is cut, extended or changed by one bit', async () => {
      const good = forge(header, current(), ours())
      const changed = fc.sample(
        fc
          .tuple(fc.constantFrom(0, 1, 2), fc.nat(), fc.constantFrom('cut', 'extend', 'flip'))
          .map(([part, at, how]) => tamper(good, part, at, how)),
        150,
      )
      const statuses = await Promise.all(changed.map((bearer) => statusOf(bearer)))
      assert.deepEqual(
        changed.filter((_, index) => statuses[index] !== 401),
        [],
      )
      assert.equal(await statusOf(good), 200)
    })

    it('another spelling of the same signature: unused bits, padding, the other alphabet', async () => {
      const good = forge(header, current(), ours())
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
      const spelled = [...alphabet].map((last) => good.slice(0, -1) + last).filter((one) => one !== good)
      const padded = [`${good}=`, `${good}==`, `${good}===`]
      const statuses = await Promise.all([...spelled, ...padded].map((bearer) => statusOf(bearer)))
      assert.deepEqual(new Set(statuses), new Set([401]))
    })

    it('keys at addresses that the header names: nobody goes there', async (t) => {
      let visits = 0
      const trap = createServer((_, response) => {
        visits += 1
        const jwk = { ...createPublicKey(stranger).export({ format: 'jwk' }), kid: 'trap', alg: 'RS256' }
        response.end(JSON.stringify({ keys: [jwk] }))
      })
      await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve))
      t.after(() => trap.close())
      const address = `http://127.0.0.1:${(trap.address() as AddressInfo).port}/keys`
      for (const kid of ['trap', service.keys.kid]) {
        for (const where of [{ jku: address }, { x5u: address }]) {
          const forged = forge({ ...header, kid, ...where }, current(), stranger)
          assert.equal(await statusOf(forged), 401)
        }
      }
      assert.equal(visits, 0)
    })

    it('but these members beside a good signature are just ignored', async () => {
      const jwk = createPublicKey(stranger).export({ format: 'jwk' })
      const decorated = { ...header, jku: 'https://evil.example', x5u: 'https://evil.example', jwk }
      assert.equal(await statusOf(forge(decorated, current(), ours())), 200)
    })

    it('two Authorization fields, whichever of them is good', async () => {
      const good = forge(header, current(), ours())
      const send = (...values: string[]) =>
        exchange(
          service.baseUrl,
          request(
            'GET',
            '/v1/auth/me',
            values.map((value) => `Authorization: ${value}`),
          ),
        )
      assert.equal((await send(`Bearer ${good}`)).status, 200)
      const pairs = [
        [`Bearer ${good}`, `Bearer ${good}`],
        [`Bearer ${good}`, 'Bearer nonsense'],
        ['Bearer nonsense', `Bearer ${good}`],
        [`Bearer ${good}`, 'Basic dXNlcjpwYXNz'],
        ['Basic dXNlcjpwYXNz', `Bearer ${good}`],
      ]
      for (const values of pairs) assert.equal((await send(...values)).status, 401, values.join())
    })

    it('two Authorization fields, the second a Bearer, beside a valid cookie: never the cookie', async () => {
      const browser = await service.session('viewer')
      const cookie = `Cookie: __Host-Http-session=${browser.cookies.get('__Host-Http-session')}`
      const lines = [cookie, 'Authorization: Basic dXNlcjpwYXNz', `Authorization: Bearer ${token}`]
      const answer = await exchange(service.baseUrl, request('GET', '/v1/auth/me', lines))
      assert.equal(answer.status, 401)
    })

    for (const spelling of [
      'Bearer',
      'Bearer ',
      'Bearer=TOKEN',
      'Bearer TOKEN x',
      'Bearer x TOKEN',
      'Bearer TOKEN,',
      'Bearer "TOKEN"',
      'Token TOKEN',
      'BearerTOKEN',
      'TOKEN',
      'Bearer\tTOKEN',
      'Bearer Bearer TOKEN',
    ]) {
      it(`the header ${JSON.stringify(spelling)}`, async () => {
        const good = forge(header, current(), ours())
        const authorization = spelling.replace('TOKEN', good)
        assert.equal((await service.client().get('/v1/auth/me', { authorization })).status, 401)
      })
    }

    it('in a query, a body or a cookie', async () => {
      const good = forge(header, current(), ours())
      const asQuery = await service.client().get(`/v1/auth/me?access_token=${good}`)
      const asCookie = await service.client().get('/v1/auth/me', { cookie: `__Host-Http-session=${good}` })
      assert.deepEqual([asQuery.status, asCookie.status], [401, 401])
    })
  })

  describe('with several keys', () => {
    const instances: Instance[] = []
    let [oldKeys, both, bothMoved, newKeys]: SigningKeys[] = []
    before(async () => {
      const oldFile = await keyFile('old.pem', pem(makeKey(), 'pkcs1'))
      const newFile = await keyFile('new.pem', pem(makeKey(3072)))
      const sets = [[oldFile], [oldFile, newFile], [newFile, oldFile], [newFile, newFile]]
      ;[oldKeys, both, bothMoved, newKeys] = await Promise.all(
        sets.map((files) => loadSigningKeys(files, 'RS256')),
      )
    })
    after(() => Promise.all(instances.map((instance) => instance.close())))

    const tokenFrom = async (instance: Instance): Promise<string> =>
      (await instance.client().post('/v1/auth/token', user.credentials)).body.accessToken
    async function start(keys: SigningKeys | undefined): Promise<Instance> {
      const instance = await startInstance(service, keys)
      instances.push(instance)
      return instance
    }

    it('the first signs, all are published in order, each once', async () => {
      const published = [oldKeys, both, bothMoved, newKeys].map((keys) =>
        keys?.jwks.keys.map((key) => key.kid),
      )
      const [older, newer] = [oldKeys?.kid, newKeys?.kid]
      assert.notEqual(older, newer)
      assert.deepEqual(published, [[older], [older, newer], [newer, older], [newer]])
      assert.deepEqual([both?.kid, bothMoved?.kid], [older, newer])
    })

    it('a rotation loses no token: each step verifies what the step before and after it signs', async () => {
      const steps = await Promise.all([oldKeys, both, bothMoved, newKeys].map(start))
      const tokens = await Promise.all(steps.map(tokenFrom))
      const verdicts = await Promise.all(
        steps.map((step) => Promise.all(tokens.map((bearer) => statusOf(bearer, step)))),
      )
      assert.deepEqual(verdicts, [
        [200, 200, 401, 401],
        [200, 200, 200, 200],
        [200, 200, 200, 200],
        [401, 401, 200, 200],
      ])
    })

    it('foreign verifiers find each key by its kid', async () => {
      const [before, after] = [await start(both), await start(bothMoved)]
      for (const bearer of [await tokenFrom(before), await tokenFrom(after)]) {
        for (const { baseUrl } of [before, after]) await verifyElsewhere(bearer, baseUrl, 'RS256')
      }
    })

    it('one key does not sign under the kid of another', async () => {
      const step = await start(both)
      const { privateKey } = both ?? service.keys
      assert.equal(await statusOf(forge({ ...header, kid: both?.kid }, claimsNow(), privateKey), step), 200)
      assert.equal(
        await statusOf(forge({ ...header, kid: newKeys?.kid }, claimsNow(), privateKey), step),
        401,
      )
    })

    const claimsNow = (): Members => ({ ...claims, iat: now(), exp: now() + 900 })

    it('SIGNING_ALGORITHM=PS256 signs and verifies with PS256 only', async (t) => {
      const keys = await loadSigningKeys([join(folder, 'old.pem')], 'PS256')
      const other = await startService({ env: { SIGNING_ALGORITHM: 'PS256' }, keys })
      t.after(() => other.close())
      const caller = await other.bearer('viewer')
      const bearer = (caller.headers.authorization ?? '').slice(7)
      assert.deepEqual(decode(parts(bearer)[0]), { alg: 'PS256', kid: keys.kid, typ: 'at+jwt' })
      assert.equal((await caller.get('/v1/auth/me')).status, 200)
      await verifyElsewhere(bearer, other.baseUrl, 'PS256')
      const sameClaims = decode(parts(bearer)[1])
      const rs256 = forge({ alg: 'RS256', kid: keys.kid, typ: 'at+jwt' }, sameClaims, keys.privateKey)
      assert.equal(await statusOf(rs256, other), 401)
    })

    it('keys that are too short, not RSA, not private or not PEM are refused at start, all named', async () => {
      const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const files = await Promise.all([
        keyFile('good.pem', pem(stranger)),
        keyFile('short.pem', pem(makeKey(2040))),
        keyFile('ec.pem', ec.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()),
        keyFile('public.pem', createPublicKey(stranger).export({ format: 'pem', type: 'spki' }).toString()),
        keyFile('text.pem', 'no key at all'),
      ])
      await assert.rejects(loadSigningKeys([...files, join(folder, 'missing.pem')], 'RS256'), (error) => {
        assert.ok(error instanceof ConfigurationError)
        const named = ['short', 'ec', 'public', 'text', 'missing'].map((name) => join(folder, `${name}.pem`))
        assert.deepEqual(
          error.faults.map((fault) => named.find((file) => fault.includes(file))),
          named,
        )
        assert.match(error.faults[0] ?? '', /2040 bits.*2048/)
        return true
      })
    })
  })
})

/** The token with one part cut, extended by a character, or one bit of its bytes flipped. */
function tamper(token: string, part: number, at: number, how: string): string {
  const pieces = token.split('.')
  const piece = pieces[part] ?? ''
  const bytes = Buffer.from(piece, 'base64url')
  const bit = at % (bytes.length * 8)
  bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
  const position = at % piece.length
  const results: Record<string, string> = {
    cut: piece.slice(0, position),
    extend: `${piece.slice(0, position)}A${piece.slice(position)}`,
    flip: bytes.toString('base64url'),
  }
  return pieces.with(part, results[how] ?? '').join('.')
}
