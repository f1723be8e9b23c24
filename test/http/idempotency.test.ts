// engine: none
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { fastify } from 'fastify'
import type { Principal } from '../../server/caller/principal.ts'
import { bodyOf, compileParser, type FieldsTypeProvider, textField } from '../../server/http/fields.ts'
import { fingerprintsBy, readIdempotency } from '../../server/http/idempotency.ts'

const caller: Principal = {
  id: 7,
  kind: 'user',
  fullName: null,
  userName: 'jo',
  roles: [],
  permissions: new Set(),
  via: 'bearer',
  timeZone: null,
  signIn: null,
  standing: { via: 'bearer', credentialsChangedAt: 0 },
  session: null,
}

/** A route outside the slices: what it shows holds for every future body. */
function fingerprintsOf(t: TestContext, fields: string[], secret = 'secret') {
  const fingerprint = fingerprintsBy(Buffer.from(secret))
  const app = fastify().withTypeProvider<FieldsTypeProvider>()
  app.setValidatorCompiler(compileParser)
  app.decorateRequest('principal', null)
  app.addHook('onRequest', async (request) => {
    request.principal = caller
  })
  const field = textField(1, 10)
  const body = bodyOf('Test', '', Object.fromEntries(fields.map((name) => [name, field])))
  app.route({
    method: 'POST',
    url: '/test',
    config: { access: 'authenticated' },
    schema: { body },
    handler: async (request) => readIdempotency(request, fingerprint, 0)?.fingerprint,
  })
  const address = app.listen()
  t.after(() => app.close())
  return async (payload: Record<string, string>, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${await address}/test`, {
      method: 'POST',
      body: JSON.stringify(payload),
      headers: { 'content-type': 'application/json', 'idempotency-key': 'one', ...headers },
    })
    assert.equal(answer.status, 200)
    return answer.text()
  }
}

describe('the fingerprint of a request with an Idempotency-Key', () => {
  it('covers every field of the body, whatever fields there are', async (t) => {
    const fields = ['customer', 'total', 'reason', 'text']
    const fingerprint = fingerprintsOf(t, fields)
    const first = Object.fromEntries(fields.map((name) => [name, 'a']))
    const changed = fields.map((name) => fingerprint({ ...first, [name]: 'b' }))
    assert.equal(new Set(await Promise.all([fingerprint(first), ...changed])).size, fields.length + 1)
  })

  it('covers If-Match and Time-Zone', async (t) => {
    const fingerprint = fingerprintsOf(t, ['reason'])
    const given = [{}, { 'if-match': '"1"' }, { 'if-match': '"2"' }, { 'time-zone': 'Europe/Berlin' }]
    const all = await Promise.all(given.map((headers) => fingerprint({ reason: 'a' }, headers)))
    assert.equal(new Set(all).size, given.length)
  })

  it('ignores members that are not fields, and other headers', async (t) => {
    const fingerprint = fingerprintsOf(t, ['reason'])
    const first = await fingerprint({ reason: 'a' })
    assert.equal(await fingerprint({ reason: 'a', status: '1' }), first)
    assert.equal(await fingerprint({ reason: 'a' }, { 'x-request-id': 'another-one' }), first)
  })

  it('cannot be made by guessing a request, without the secret of the service', async (t) => {
    const made = ['one', 'another'].map((secret) => fingerprintsOf(t, ['name'], secret)({ name: 'Ann' }))
    assert.equal(new Set(await Promise.all(made)).size, 2)
  })
})
