import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { bearerOf, newUser, setEnabled, setPassword, signIn, type TestUser } from '../support/accounts.ts'
import { newAdministrator } from '../support/administration.ts'
import type { Answer, Client } from '../support/client.ts'
import { assertProblem } from '../support/problem.ts'
import { setUp, testService } from '../support/service.ts'

const path = '/v1/auth/absence'

/** Someone who wants to become the deputy of a person who is not away. */
describe('an absence that the person did not set', () => {
  const service = testService()
  const ann = setUp(() => newUser(service, { roles: ['Admin'] }), beforeEach)
  const thief = setUp(() => newUser(service, { roles: ['Viewer'] }), beforeEach)
  const body = () => ({
    from: new Date(service.now()).toISOString(),
    until: new Date(service.now() + 3_600_000).toISOString(),
    deputyId: thief.id,
  })
  const put = (caller: Client, given: unknown = body()) => caller.send('PUT', path, given)
  async function assertNone(user: TestUser = ann) {
    const rows = await service.db.read
      .selectFrom('absences')
      .selectAll()
      .where('principal_id', '=', user.id)
      .execute()
    assert.deepEqual(rows, [])
  }

  const ends: [what: string, end: () => Promise<unknown>][] = [
    ['another password', () => setPassword(service, ann)],
    ['being disabled', () => setEnabled(service, ann, false)],
  ]
  for (const [what, end] of ends) {
    for (const how of ['bearer', 'session']) {
      for (const method of ['PUT', 'DELETE']) {
        it(`${method} is refused to a stolen ${how} that the service remembers, after ${what}`, async () => {
          const caller = await (how === 'session' ? signIn : bearerOf)(service, ann)
          assert.equal((await caller.get(path)).status, 200)
          await end()
          const sent = method === 'PUT' ? body() : undefined
          assertProblem(await caller.send(method, path, sent), 401, 'authentication-required')
          await assertNone()
        })
      }
    }
  }

  it('is refused to a session that has ended, and to one without its antiforgery token', async () => {
    const browser = await signIn(service, ann)
    const forged = browser.copy()
    delete forged.headers['x-xsrf-token']
    assertProblem(await put(forged), 403, 'csrf-token-missing')
    const stolen = browser.copy()
    assert.equal((await browser.post('/v1/auth/session/logout')).status, 204)
    assertProblem(await put(stolen), 401, 'authentication-required')
    await assertNone()
  })

  it('is set by no route of anybody else, an administrator included', async () => {
    const { caller, user } = await newAdministrator(service)
    const address = `/v1/users/${ann.id}/absence`
    const ways: [method: string, path: string, headers?: Record<string, string>][] = [
      ['PUT', address],
      ['PATCH', address],
      ['POST', address],
      ['DELETE', address, { 'x-http-method-override': 'PUT' }],
      ['POST', path],
      ['PUT', `${path}/${ann.id}`],
      ['PATCH', `/v1/users/${ann.id}`],
      ['PUT', `${path}?userId=${ann.id}`],
      ['PUT', `${path}?id=${ann.id}`, { 'x-forwarded-user': ann.userName }],
    ]
    for (const [method, where, headers] of ways) await caller.send(method, where, body(), headers)
    await assertNone()
    await caller.send('DELETE', path)
    await assertNone(user)
  })

  const odd: [what: string, text: (usual: string) => string][] = [
    ['a prototype', (usual) => usual.replace('{', '{"__proto__":{"principalId":1},')],
    ['a constructor', (usual) => usual.replace('{', '{"constructor":{"prototype":{"principalId":1}},')],
    ['another person', (usual) => usual.replace('{', '{"principalId":1,')],
    ['half a character', (usual) => usual.replace('{', '{"\\ud800":1,')],
    ['half a character in an instant', (usual) => usual.replace('T', '\\ud800')],
    ['a number that wraps', (usual) => usual.replace(/(\d+)}/, (_, id) => `${4_294_967_296 + Number(id)}}`)],
    ['a number out of range', (usual) => usual.replace(/\d+}/, '1e400}')],
    ['a fraction', (usual) => usual.replace(/(\d+)}/, '$1.5}')],
    ['a list', (usual) => usual.replace(/(\d+)}/, '[$1]}')],
    ['nobody', (usual) => usual.replace(/\d+}/, 'null}')],
    ['an end later than any date', (usual) => usual.replace(/"until":"\d+/, '"until":"+275761')],
    ['an end in ten thousand years', (usual) => usual.replace(/"until":"\d+/, '"until":"9999')],
    ['a list of absences', (usual) => `[${usual}]`],
    ['nothing', () => ''],
    ['half of the body', (usual) => usual.slice(0, -1)],
  ]
  for (const [what, text] of odd) {
    it(`is not made of ${what}`, async () => {
      const caller = await bearerOf(service, ann)
      const answer: Answer = await put(caller, text(JSON.stringify(body())))
      assert.equal(answer.status, 400, answer.text)
      await assertNone()
    })
  }
})
