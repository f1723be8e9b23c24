import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { liveCredentials, newClient, newUser } from '../../support/accounts.ts'
import { accountEvents, idOf } from '../../support/administration.ts'
import type { Client } from '../../support/client.ts'
import { assertOneOf, assertProblem } from '../../support/problem.ts'
import { testService } from '../../support/service.ts'

describe('addUser', () => {
  const service = testService()
  let admin: Client
  let count = 0
  before(async () => {
    admin = await service.bearer('admin')
  })

  const command = (given: object = {}) => {
    count += 1
    return { userName: `New${count}`, email: `new${count}@example.com`, roles: ['Viewer'], ...given }
  }
  const add = (given: object = {}, caller = admin) => caller.post('/v1/users', command(given))

  describe('succeeds', () => {
    it('answers 201 with the id, its path and its version', async () => {
      const answer = await add({ email: 'Jo.New@Example.com', timeZone: 'europe/berlin' })
      const id = idOf(answer)
      assert.deepEqual(answer.body, { id })
      assert.equal(answer.headers.get('location'), `/v1/users/${id}`)
      const found = await admin.get(`/v1/users/${id}`)
      assert.equal(found.headers.get('etag'), answer.headers.get('etag'))
      assert.deepEqual(found.body, {
        id,
        userName: `New${count}`,
        email: 'jo.new@example.com',
        timeZone: 'Europe/Berlin',
        roles: ['Viewer'],
        enabled: true,
        hasPassword: false,
        createdAtUtc: new Date(service.now()).toISOString(),
      })
    })

    it('works by session, without roles and with a role named twice', async () => {
      const browser = await service.session('admin')
      const none = idOf(await add({ roles: [] }, browser))
      assert.deepEqual((await admin.get(`/v1/users/${none}`)).body.roles, [])
      const twice = idOf(await add({ roles: ['Viewer', 'Viewer', 'Operator'] }, browser))
      assert.deepEqual((await admin.get(`/v1/users/${twice}`)).body.roles, ['Operator', 'Viewer'])
    })

    it('makes a user who cannot sign in: the answer is that for an unknown user', async () => {
      const id = idOf(await add({ email: 'silent@example.com' }))
      const tries = ['x', 'null', 'undefined', '$argon2id$', '\u0000'].map((password) =>
        service.client().post('/v1/auth/session', { email: 'silent@example.com', password }),
      )
      for (const answer of await Promise.all(tries)) assertProblem(answer, 401, 'invalid-credentials')
      assert.deepEqual(await liveCredentials(service, { id }), { sessions: 0, families: 0 })
    })

    it('leaves one event, by the person, with roles by name and no email', async () => {
      const id = idOf(await add({ roles: ['Operator'] }))
      assert.deepEqual(await accountEvents(service, id), [
        { kind: 'user-added', byId: 1, data: { name: `New${count}`, roles: ['Operator'] } },
      ])
    })
  })

  describe('rejects input', () => {
    const cases: [what: string, given: object, places: Record<string, string>][] = [
      [
        'nothing',
        { userName: undefined, email: undefined, roles: undefined },
        {
          '#/userName': 'required',
          '#/email': 'required',
          '#/roles': 'required',
        },
      ],
      ['a name that begins with a digit', { userName: '7' }, { '#/userName': 'format' }],
      ['a name with a line feed', { userName: 'jo\n' }, { '#/userName': 'format' }],
      ['a name of 65 characters', { userName: 'a'.repeat(65) }, { '#/userName': 'format' }],
      ['a name that is no text', { userName: ['jo'] }, { '#/userName': 'type' }],
      ['an email with two @', { email: 'a@b@c' }, { '#/email': 'format' }],
      ['an email with a space', { email: 'a b@c' }, { '#/email': 'format' }],
      ['an email that reads in another order', { email: 'a\u202eb@c' }, { '#/email': 'format' }],
      ['an email with what cannot be seen', { email: 'a\u200bb@c' }, { '#/email': 'format' }],
      ['an email of 255 characters', { email: `${'a'.repeat(253)}@b` }, { '#/email': 'length' }],
      ['roles that are no list', { roles: 'Admin' }, { '#/roles': 'type' }],
      ['51 roles', { roles: Array(51).fill('Viewer') }, { '#/roles': 'type' }],
      ['a role that is no text', { roles: [['Admin']] }, { '#/roles': 'format' }],
      ['a time zone that is an offset', { timeZone: '+01:00' }, { '#/timeZone': 'unknown' }],
      ['a time zone that is null', { timeZone: null }, { '#/timeZone': 'type' }],
    ]
    for (const [what, given, places] of cases) {
      it(`refuses ${what}, and says where`, async () => {
        const answer = await add(given)
        assertProblem(answer, 400, 'validation-failed')
        const named = answer.body.errors.map(({ pointer, code }: Record<string, string>) => [pointer, code])
        assert.deepEqual(Object.fromEntries(named), places)
      })
    }

    it('ignores members that are not its own: id, password, enabled', async () => {
      const id = idOf(
        await add({ id: 1, password: 'quiet harbour lanterns', enabled: false, hasPassword: true }),
      )
      const { body } = await admin.get(`/v1/users/${id}`)
      assert.deepEqual([body.enabled, body.hasPassword], [true, false])
    })
  })

  describe('conflicts', () => {
    it('with a user or a service of that name, ignoring case, and with a user of that email', async () => {
      const user = await newUser(service)
      const client = await newClient(service)
      for (const userName of [user.userName.toUpperCase(), client.clientId]) {
        assertProblem(await add({ userName }), 409, 'name-taken')
      }
      assertProblem(await add({ email: user.email.toUpperCase() }), 409, 'email-taken')
    })

    it('with unknown roles, which it names', async () => {
      const answer = await add({ roles: ['Viewer', 'viewer', 'Boss'] })
      assertProblem(answer, 422, 'unknown-role')
      assert.equal(answer.body.detail, 'There is no role viewer, Boss.')
    })

    it('20 at once with one name give exactly one 201', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => add({ userName: 'Contended' })))
      assertOneOf(answers, 201, 409, 'name-taken')
    })

    it('leaves no trace', async () => {
      const stored = async () => [
        await service.db.read.selectFrom('principals').select('id').execute(),
        await service.db.read.selectFrom('users').select('principal_id').execute(),
      ]
      const before = await stored()
      const { email } = await newUser(service)
      const withOne = await stored()
      assert.notDeepEqual(withOne, before)
      await add({ email })
      await add({ roles: ['Boss'] })
      assert.deepEqual(await stored(), withOne)
    })
  })
})
