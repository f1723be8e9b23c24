import assert from 'node:assert/strict'
import { createHash, createPublicKey } from 'node:crypto'
import { before, describe, it } from 'node:test'
import fc from 'fast-check'
import { newClient, newUser, serviceToken, tokenPair } from '../support/accounts.ts'
import { decode, encode, forge, type Members, makeKey, parts, verifyElsewhere } from '../support/forge.ts'
import { exchange, request } from '../support/raw.ts'
import { publicUrl, type Service, setUp, startService, testService } from '../support/service.ts'

describe('access tokens', () => {
  const service = testService()
  const user = setUp(() => newUser(service, { roles: ['Admin', 'Viewer'] }))
  const client = setUp(() => newClient(service))
  let token: string
  let header: Members
  let claims: Members
  const stranger = makeKey()
  before(async () => {
    token = (await tokenPair(service, user)).accessToken
    header = decode(parts(token)[0])
    claims = decode(parts(token)[1])
  })

  const statusOf = async (bearer: string, at: { client(): ReturnType<Service['client']> } = service) =>
    (await at.client().withBearer(bearer).get('/v1/auth/me')).status
  const ours = () => service.keys.privateKey
  const now = () => Math.floor(service.now() / 1000)

  describe('as issued', () => {
    it('have a header with alg, kid and typ at+jwt, and nothing else', () => {
      assert.deepEqual(header, { alg: 'RS256', kid: service.keys.kid, typ: 'at+jwt' })
    })

    it('have the RFC 7638 thumbprint of the published key as kid', async () => {
      const { body } = await service.client().get('/.well-known/jwks.json')
      const { e, kty, n, kid } = body.keys[0]
      const thumbprint = createHash('sha256').update(JSON.stringify({ e, kty, n })).digest('base64url')
      assert.equal(header.kid, thumbprint)
      assert.equal(kid, thumbprint)
    })

    it('have exactly the claims of the contract for a user', () => {
      const { iat, exp, jti, sid, credentials_changed_at: changedAt, ...rest } = claims
      assert.equal(typeof changedAt, 'number')
      assert.match(String(sid), /^[A-Za-z0-9_-]{22}$/)
      assert.deepEqual(rest, {
        auth_time: Number(iat),
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

    it('have exactly the claims of the contract for a service', async () => {
      const {
        iat,
        exp,
        jti,
        credentials_changed_at: changedAt,
        ...rest
      } = decode(parts(await serviceToken(service, client))[1])
      assert.deepEqual(rest, {
        iss: publicUrl,
        aud: publicUrl,
        sub: client.clientId,
        client_id: client.clientId,
        roles: ['Operator'],
        preferred_username: client.clientId,
      })
      assert.equal(typeof changedAt, 'number')
      assert.equal(Number(exp) - Number(iat), 3600)
      assert.equal(typeof jti, 'string')
    })

    it('have a different jti each', async () => {
      const pairs = await Promise.all([tokenPair(service, user), tokenPair(service, user)])
      const ids = pairs.map(({ accessToken }) => decode(parts(accessToken)[1]).jti)
      assert.equal(new Set(ids).size, 2)
    })

    it('name PUBLIC_URL without its trailing slash', async (t) => {
      const other = await startService({ inside: true, env: { PUBLIC_URL: `${publicUrl}/` } })
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

  describe('are accepted', () => {
    it('when another program signs the same header and claims with our key (so every refusal below has one cause)', async () => {
      assert.equal(await statusOf(forge(header, claims, ours())), 200)
    })

    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) {
      it(`with the scheme written ${scheme}`, async () => {
        const answer = await service.client().get('/v1/auth/me', { authorization: `${scheme} ${token}` })
        assert.equal(answer.status, 200)
      })
    }

    it('up to 5 seconds after exp and no longer, even if the signature was verified before', async () => {
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
    /** Each differs from an accepted token in one detail. */
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
    attack('another RSA key under our kid', () => forge(header, current(), stranger))
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
    const changed = (how: (changedAt: number) => unknown) => () =>
      withClaims({ credentials_changed_at: how(Number(claims.credentials_changed_at)) })()
    attack(
      'no change of credentials',
      changed(() => undefined),
    )
    attack(
      'a former change of credentials',
      changed((at) => at - 1),
    )
    attack(
      'a later change of credentials',
      changed((at) => at + 1),
    )
    attack('a change of credentials that is a string', changed(String))
    attack(
      'a change of credentials that is a list',
      changed((at) => [at]),
    )
    const subs = '0 -1 01 1e0 99999999999 9999999 nobody admin'.split(' ')
    for (const sub of [undefined, null, '', 1, ' 1', '1 ', ...subs]) {
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
    attack('five parts, as of an encrypted one', () => `${token}.AAAA.AAAA`)
    attack('two parts', () => parts(token).slice(0, 2).join('.'))
    attack('no part', () => '.')
    attack('an empty signature', () => `${parts(token).slice(0, 2).join('.')}.`)

    it('for any single fault, and accepted without it', async () => {
      assert.equal(await statusOf(forge(header, current(), ours())), 200)
    })

    for (const [what, make] of attacks) {
      it(what, async () => {
        const answer = await service.client().withBearer(make()).get('/v1/auth/me')
        assert.equal(answer.status, 401)
        assert.equal(answer.body.code, 'authentication-required')
        assert.match(answer.headers.get('www-authenticate') ?? '', /error="invalid_token"$/)
      })
    }

    it('if any part is cut, extended or changed by one bit', async () => {
      const good = forge(header, current(), ours())
      const changed = fc.sample(
        fc
          .tuple(fc.constantFrom(0, 1, 2), fc.nat(), fc.constantFrom('cut', 'extend', 'flip'))
          .map(([part, at, how]) => tamper(good, part, at, how)),
        60,
      )
      const statuses = await Promise.all(changed.map((bearer) => statusOf(bearer)))
      const strays = changed.filter((_, index) => statuses[index] !== 401)
      assert.deepEqual(strays, [])
      assert.equal(await statusOf(good), 200)
    })

    it('in another spelling of the same signature: unused bits, padding, the other alphabet', async () => {
      const good = forge(header, current(), ours())
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
      const spelled = [...alphabet].map((last) => good.slice(0, -1) + last).filter((one) => one !== good)
      const padded = [`${good}=`, `${good}==`, `${good}===`]
      const statuses = await Promise.all([...spelled, ...padded].map((bearer) => statusOf(bearer)))
      assert.deepEqual(new Set(statuses), new Set([401]))
    })

    it('but not because of extra members, which are ignored if the signature is good', async () => {
      const jwk = createPublicKey(stranger).export({ format: 'jwk' })
      const decorated = { ...header, jku: 'https://evil.example', x5u: 'https://evil.example', jwk }
      assert.equal(await statusOf(forge(decorated, current(), ours())), 200)
    })

    it('next to a second Authorization field, even if one of the two is good', async () => {
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

    it('as the second of two Authorization fields, even with a valid cookie, which never counts', async () => {
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
      it(`with the header ${JSON.stringify(spelling)}`, async () => {
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
