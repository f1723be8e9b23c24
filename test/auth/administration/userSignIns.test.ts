import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { everyCredentialOf, liveCredentials, newUser } from '../../support/accounts.ts'
import { accountEvents } from '../../support/administration.ts'
import { assertProblem } from '../../support/problem.ts'
import { setUp, testService } from '../../support/service.ts'

describe('listUserSignIns, endUserSignIn and signOutUser', () => {
  const service = testService()
  const admin = setUp(() => service.bearer('admin'))
  const user = setUp(() => newUser(service), beforeEach)
  const credentials = setUp(() => everyCredentialOf(service, user), beforeEach)

  const path = (rest = '') => `/v1/users/${user.id}/sessions${rest}`
  const idOf = async (kind: string): Promise<string> => {
    const { body } = await admin.get(path())
    return body.items.find((each: { kind: string }) => each.kind === kind).id
  }

  it('list the sessions and token families of that user only, in pages, none of them the caller’s', async () => {
    await everyCredentialOf(service, await newUser(service))
    const { status, body } = await admin.get(path())
    assert.equal(status, 200)
    const kinds = body.items.map(({ kind, current }: { kind: string; current: boolean }) => [kind, current])
    assert.deepEqual(kinds.sort(), [
      ['session', false],
      ['tokens', false],
    ])
    const first = await admin.get(path('?pageSize=1'))
    assert.deepEqual([first.body.items.length, first.body.totalPages], [1, 2])
    assert.match(first.headers.get('link') ?? '', new RegExp(`/v1/users/${user.id}/sessions\\?pageNumber=2`))
  })

  it('show no id with which anyone could sign in', async () => {
    const { text } = await admin.get(path())
    for (const cookie of credentials.browser.cookies.values()) assert.ok(!text.includes(cookie))
    assert.ok(!text.includes(credentials.refreshToken))
  })

  it('end one sign-in, and no other of that user', async () => {
    const answer = await admin.send('DELETE', path(`/${await idOf('session')}`))
    assert.deepEqual([answer.status, answer.text], [204, ''])
    assert.equal((await credentials.browser.get('/v1/auth/me')).status, 401)
    assert.deepEqual(await liveCredentials(service, user), { sessions: 0, families: 1 })
    const events = await accountEvents(service, user.id)
    assert.deepEqual(events.at(-1), { kind: 'sign-in-ended', byId: 1, data: { name: user.userName } })
  })

  it('end all sign-ins of that user', async () => {
    assert.equal((await admin.send('DELETE', path())).status, 204)
    assert.deepEqual(await liveCredentials(service, user), { sessions: 0, families: 0 })
    assert.deepEqual((await admin.get(path())).body.items, [])
    const { kind, byId } = (await accountEvents(service, user.id)).at(-1) ?? {}
    assert.deepEqual([kind, byId], ['signed-out', 1])
  })

  it('end no session that belongs to another user', async () => {
    const other = await newUser(service)
    await everyCredentialOf(service, other)
    const { body } = await admin.get(`/v1/users/${other.id}/sessions`)
    const answer = await admin.send('DELETE', path(`/${body.items[0].id}`))
    assertProblem(answer, 404, 'sign-in-not-found')
    assert.deepEqual(await liveCredentials(service, other), { sessions: 1, families: 1 })
  })

  it('answer 404 for an unknown user and an unknown session', async () => {
    for (const [method, rest] of [
      ['GET', ''],
      ['DELETE', ''],
      ['DELETE', '/x'],
    ] as const) {
      assertProblem(await admin.send(method, `/v1/users/999999/sessions${rest}`), 404, 'user-not-found')
      assertProblem(await admin.send(method, `/v1/users/x/sessions${rest}`), 404, 'user-not-found')
    }
    for (const wrong of ['x', '%00', 'U'.repeat(2_000)]) {
      assertProblem(await admin.send('DELETE', path(`/${wrong}`)), 404, 'sign-in-not-found')
    }
  })
})
