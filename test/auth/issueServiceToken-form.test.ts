import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { decodeJwt } from 'jose'
import { newClient, newUser, tokenPair } from '../support/accounts.ts'
import type { Answer } from '../support/client.ts'
import { visibleParts } from '../support/problem.ts'
import { setUp, startService, testService } from '../support/service.ts'

const path = '/v1/auth/clients/token'
const grant = { grant_type: 'client_credentials' }

/** RFC 6749 §2.3.1: each half is form-encoded before it is joined. */
function basic(id: string, secret: string): Record<string, string> {
  return { authorization: `Basic ${btoa(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`)}` }
}

/** Escapes every byte, as some libraries do. */
function everyByte(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join('')
}

/** RFC 6749 §5.2, together with the members of the problem. */
function assertRefusal(answer: Answer, status: number, error: string, code: string): void {
  const { body, headers, text } = answer
  assert.deepEqual([answer.status, body?.error, body?.code], [status, error, code], text)
  assert.equal(headers.get('content-type'), 'application/json')
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.match(body.error_description, /^[\x20\x21\x23-\x5b\x5d-\x7e]{5,}$/)
  const challenge = status === 401 ? 'Basic realm="countersign"' : null
  assert.equal(headers.get('www-authenticate'), challenge)
}

describe('issueServiceToken, requested by a form', () => {
  const service = testService()
  const client = setUp(() => newClient(service))
  let inBody: Record<string, string>
  let inHeader: Record<string, string>
  before(async () => {
    inBody = { client_id: client.clientId, client_secret: client.clientSecret }
    inHeader = basic(client.clientId, client.clientSecret)
  })

  const ask = (form: string | Record<string, string>, headers?: Record<string, string>) =>
    service.client().postForm(path, form, headers)

  function assertToken({ status, headers, body, text }: Answer): void {
    assert.equal(status, 200, text)
    assert.deepEqual(Object.keys(body).sort(), ['access_token', 'expires_in', 'token_type'])
    assert.deepEqual([body.token_type, body.expires_in], ['Bearer', 3_600])
    const { sub, exp = 0, iat = 0 } = decodeJwt(body.access_token)
    assert.deepEqual([sub, exp - iat], [client.clientId, body.expires_in])
    assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
    assert.deepEqual([headers.get('cache-control'), headers.get('pragma')], ['no-store', 'no-cache'])
    assert.equal(headers.get('set-cookie'), null)
  }

  describe('succeeds', () => {
    it('accepts Basic, and the credentials in the body', async () => {
      assertToken(await ask(grant, inHeader))
      assertToken(await ask({ ...grant, ...inBody }))
    })

    it('issues a token that works', async () => {
      const { body } = await ask(grant, inHeader)
      const caller = service.client().withBearer(body.access_token)
      assert.equal((await caller.get('/v1/auth/me')).body.userName, client.clientId)
    })

    it('accepts Basic however its halves are encoded and its scheme is spelt, and the id in the form as well', async () => {
      const { clientId, clientSecret } = client
      const authorizations = [
        `Basic ${btoa(`${clientId}:${clientSecret}`)}`,
        `bAsIc   ${btoa(`${everyByte(clientId)}:${everyByte(clientSecret)}`)}`,
      ]
      for (const authorization of authorizations) assertToken(await ask(grant, { authorization }))
      assertToken(await ask({ ...grant, client_id: clientId }, inHeader))
    })

    it('ignores empty parameters, which count as absent, and unknown ones', async () => {
      assertToken(
        await ask({ ...grant, scope: '', client_secret: '', resource: 'https://a.example' }, inHeader),
      )
      const odd = '&__proto__=1&constructor=x&%ff=1&=&&audience=a&audience=b'
      assertToken(await ask(`grant_type=client_credentials${odd}`, inHeader))
    })

    it('accepts the type in upper or lower case, with a charset, and ignores a cookie or a bearer', async () => {
      const type = { 'content-type': 'Application/X-WWW-Form-URLEncoded; charset=UTF-8' }
      assertToken(await ask(grant, { ...inHeader, ...type }))
      const { accessToken } = await tokenPair(service, await newUser(service))
      assertToken(
        await service
          .client()
          .withBearer(accessToken)
          .postForm(path, { ...grant, ...inBody }),
      )
      const browser = await service.session('admin')
      assertToken(await browser.postForm(path, { ...grant, ...inBody }))
    })
  })

  describe('rejects input', () => {
    it('refuses another grant', async () => {
      for (const grant_type of ['password', 'refresh_token', 'CLIENT_CREDENTIALS', 'client_credentials ']) {
        const answer = await ask({ grant_type }, inHeader)
        assertRefusal(answer, 400, 'unsupported_grant_type', 'unsupported-grant-type')
      }
    })

    const malformed: [what: string, form: string, place: string][] = [
      ['no grant', '', '#/grant_type'],
      ['an empty grant', 'grant_type=', '#/grant_type'],
      ['the grant twice', 'grant_type=client_credentials&grant_type=client_credentials', '#/grant_type'],
      ['a secret twice', 'grant_type=client_credentials&client_secret=a&client_secret=b', '#/client_secret'],
      ['a broken escape', 'grant_type=client_credentials&client_id=%zz', '#/client_id'],
      ['an escape of no text', 'grant_type=client_credentials&client_secret=%ff', '#/client_secret'],
      ['a long id', `grant_type=client_credentials&client_id=${'x'.repeat(65)}`, '#/client_id'],
      ['a long secret', `grant_type=client_credentials&client_secret=${'x'.repeat(257)}`, '#/client_secret'],
      ['a body of JSON', '{"grant_type":"client_credentials"}', '#/grant_type'],
    ]
    for (const [what, form, place] of malformed) {
      it(`answers invalid_request to ${what}, naming ${place}`, async () => {
        const answer = await ask(form)
        assertRefusal(answer, 400, 'invalid_request', 'validation-failed')
        const pointers = answer.body.errors.map(({ pointer }: { pointer: string }) => pointer)
        assert.deepEqual(pointers, [place])
      })
    }

    it('refuses credentials in both places, and two names', async () => {
      for (const more of [inBody, { client_secret: client.clientSecret }, { client_id: 'another' }]) {
        const answer = await ask({ ...grant, ...more }, inHeader)
        assertRefusal(answer, 400, 'invalid_request', 'validation-failed')
      }
    })

    it('refuses bytes that are not text, and 2 MB', async () => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded', connection: 'close' }
      const bytes = await fetch(service.baseUrl + path, {
        method: 'POST',
        headers,
        body: Uint8Array.of(0xff),
      })
      assert.deepEqual(
        [bytes.status, ((await bytes.json()) as { error: string }).error],
        [400, 'invalid_request'],
      )
      const large = await ask(`grant_type=${'x'.repeat(60_000)}&more=${'x'.repeat(8_000)}`)
      assertRefusal(large, 413, 'invalid_request', 'body-too-large')
      const parameters = await ask('a&'.repeat(30_000))
      assertRefusal(parameters, 400, 'invalid_request', 'validation-failed')
    })
  })

  describe('conflicts', () => {
    it('gives one answer for every cause, with Basic as the challenge', async () => {
      const { clientId, clientSecret } = client
      const user = await newUser(service)
      const refused = await Promise.all([
        ask(grant),
        ask({ ...grant, client_id: clientId }),
        ask({ ...grant, client_secret: clientSecret }),
        ask({ ...grant, client_id: clientId, client_secret: 'wrong' }),
        ask({ ...grant, client_id: user.userName, client_secret: user.password }),
        ask(grant, basic('nobody', clientSecret)),
        ask(grant, basic(clientId, 'wrong')),
        ask(grant, basic('', '')),
        ...['', '!', btoa(clientId), btoa(`${clientId}:%zz`), btoa(`%ff:${clientSecret}`)].map((text) =>
          ask(grant, { authorization: `Basic ${text}` }),
        ),
      ])
      for (const answer of refused) {
        assertRefusal(answer, 401, 'invalid_client', 'invalid-client')
        assert.deepEqual(visibleParts(answer), visibleParts(refused[0] ?? answer))
      }
    })

    it('ignores Basic on other routes, and with JSON', async () => {
      const none = await service.client().get('/v1/auth/me', inHeader)
      assert.equal(none.status, 401)
      assert.equal(none.headers.get('www-authenticate'), 'Bearer realm="countersign"')
      const json = await service.client().post(path, { clientId: 'nobody', clientSecret: 'x' }, inHeader)
      assert.equal(json.headers.get('content-type'), 'application/problem+json')
      assert.deepEqual([json.status, json.body.error], [401, undefined])
    })
  })

  it('has the same limit as JSON, and is refused in the format of OAuth', async (t) => {
    const limited = await startService({
      inside: true,
      env: { RATE_LIMIT_FACTOR: '1', RATE_LIMIT_EXCHANGE: '2' },
      until: t,
    })
    const caller = limited.client()
    await caller.post(path, { clientId: 'nobody', clientSecret: 'x' })
    await caller.postForm(path, grant)
    const answer = await caller.postForm(path, grant)
    assertRefusal(answer, 429, 'temporarily_unavailable', 'rate-limited')
    assert.ok(Number(answer.headers.get('retry-after')) > 0)
  })
})
