import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { loadSigningKeys, type SigningKeys } from '../../server/auth/credentials/tokens/keys.ts'
import { ConfigurationError } from '../../server/config.ts'
import { newUser, tokenPair } from '../support/accounts.ts'
import { decode, forge, type Members, makeKey, parts, verifyElsewhere } from '../support/forge.ts'
import { type Service, setUp, startService, testService } from '../support/service.ts'

const pem = (key: KeyObject, type: 'pkcs1' | 'pkcs8' = 'pkcs8') =>
  key.export({ format: 'pem', type }).toString()

describe('signing keys', () => {
  const service = testService()
  const user = setUp(() => newUser(service, { roles: ['Admin', 'Viewer'] }))
  let header: Members
  let claims: Members
  let folder: string
  before(async () => {
    const { accessToken } = await tokenPair(service, user)
    header = decode(parts(accessToken)[0])
    claims = decode(parts(accessToken)[1])
    folder = await mkdtemp(join(tmpdir(), 'countersign-keys-'))
  })
  after(() => rm(folder, { recursive: true }))

  const statusOf = async (bearer: string, at: Pick<Service, 'client'>) =>
    (await at.client().withBearer(bearer).get('/v1/auth/me')).status

  async function keyFile(name: string, text: string): Promise<string> {
    const file = join(folder, name)
    await writeFile(file, text)
    return file
  }

  it('are published with public members only, to every origin, with an ETag and an hour of caching', async () => {
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

  describe('if there are several', () => {
    const instances: Service[] = []
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

    const tokenFrom = async (instance: Service): Promise<string> =>
      (await instance.client().post('/v1/auth/token', user.credentials)).body.accessToken
    async function start(keys: SigningKeys | undefined): Promise<Service> {
      const instance = await startService({ instanceOf: service, keys })
      instances.push(instance)
      return instance
    }

    it('sign with the first, and are all published in order, each once', async () => {
      const published = [oldKeys, both, bothMoved, newKeys].map((keys) =>
        keys?.jwks.keys.map((key) => key.kid),
      )
      const [older, newer] = [oldKeys?.kid, newKeys?.kid]
      assert.notEqual(older, newer)
      assert.deepEqual(published, [[older], [older, newer], [newer, older], [newer]])
      assert.deepEqual([both?.kid, bothMoved?.kid], [older, newer])
    })

    it('lose no token in a rotation: each step verifies what the step before and after it signs', async () => {
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

    it('are each found by kid by other verifiers', async () => {
      const [before, after] = [await start(both), await start(bothMoved)]
      for (const bearer of [await tokenFrom(before), await tokenFrom(after)]) {
        for (const { baseUrl } of [before, after]) await verifyElsewhere(bearer, baseUrl, 'RS256')
      }
    })

    it('refuse a signature by one key under the kid of another', async () => {
      const step = await start(both)
      const { privateKey } = both ?? service.keys
      assert.equal(await statusOf(forge({ ...header, kid: both?.kid }, claimsNow(), privateKey), step), 200)
      assert.equal(
        await statusOf(forge({ ...header, kid: newKeys?.kid }, claimsNow(), privateKey), step),
        401,
      )
    })

    const now = () => Math.floor(service.now() / 1000)
    const claimsNow = (): Members => ({ ...claims, iat: now(), exp: now() + 900 })

    it('sign and verify with PS256 only if SIGNING_ALGORITHM=PS256', async (t) => {
      const keys = await loadSigningKeys([join(folder, 'old.pem')], 'PS256')
      const other = await startService({ env: { SIGNING_ALGORITHM: 'PS256' }, keys, until: t })
      const caller = await other.bearer('viewer')
      const bearer = (caller.headers.authorization ?? '').slice(7)
      assert.deepEqual(decode(parts(bearer)[0]), { alg: 'PS256', kid: keys.kid, typ: 'at+jwt' })
      assert.equal((await caller.get('/v1/auth/me')).status, 200)
      await verifyElsewhere(bearer, other.baseUrl, 'PS256')
      const sameClaims = decode(parts(bearer)[1])
      const rs256 = forge({ alg: 'RS256', kid: keys.kid, typ: 'at+jwt' }, sameClaims, keys.privateKey)
      assert.equal(await statusOf(rs256, other), 401)
    })

    it('are refused at start if they are too short, not RSA, not private or not PEM, and all are named', async () => {
      const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const files = await Promise.all([
        keyFile('good.pem', pem(makeKey())),
        keyFile('short.pem', pem(makeKey(2040))),
        keyFile('ec.pem', ec.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()),
        keyFile('public.pem', createPublicKey(makeKey()).export({ format: 'pem', type: 'spki' }).toString()),
        keyFile('text.pem', 'no key at all'),
      ])
      await assert.rejects(loadSigningKeys([...files, join(folder, 'missing.pem')], 'RS256'), (error) => {
        assert.ok(error instanceof ConfigurationError)
        const named = ['short', 'ec', 'public', 'text'].map((name) => join(folder, `${name}.pem`))
        assert.deepEqual(
          error.faults.slice(0, -1).map((fault) => named.find((file) => fault.includes(file))),
          named,
        )
        assert.match(error.faults[0] ?? '', /2040 bits.*2048/)
        assert.equal(error.faults.at(-1), 'SIGNING_KEY_FILES: file 6 of 6 cannot be read (ENOENT)')
        return true
      })
    })

    it('are refused where the name of a file belongs, and not repeated', async () => {
      for (const given of [randomBytes(32).toString('base64'), pem(makeKey()).replaceAll('\n', ' ')]) {
        await assert.rejects(loadSigningKeys([given], 'RS256'), (error) => {
          const [fault = ''] = (error as ConfigurationError).faults
          assert.match(fault, /^SIGNING_KEY_FILES: the file cannot be read \((ENOENT|ENAMETOOLONG)\)$/)
          return true
        })
      }
    })
  })
})
