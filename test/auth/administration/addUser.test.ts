// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { liveCredentials, newClient, newUser } from '../../support/accounts.ts'
import { accountEvents, idOf, newAdministrator } from '../../support/administration.ts'
import { storedEvents } from '../../support/kept-log.ts'
import { assertFaults, assertOneOf, assertProblem } from '../../support/problem.ts'
import { setUp, testService } from '../../support/service.ts'

describe('addUser', () => {
  const service = testService()
  const admin = setUp(() => service.bearer('admin'))
  let count = 0

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
      assert.equal(answer.headers.get('cache-control'), 'private, no-cache')
      const found = await admin.get(`/v1/users/${id}`)
      assert.equal(found.headers.get('etag'), answer.headers.get('etag'))
      assert.deepEqual(found.body, {
        id,
        userName: `New${count}`,
        name: null,
        email: 'jo.new@example.com',
        timeZone: 'Europe/Berlin',
        roles: ['Viewer'],
        enabled: true,
        hasPassword: false,
        hasCompanyAccount: false,
        createdAtUtc: new Date(service.now()).toISOString(),
      })
    })

    it('accepts a session, no roles, and a role named twice', async () => {
      const browser = await service.session('admin')
      const none = idOf(await add({ roles: [] }, browser))
      assert.deepEqual((await admin.get(`/v1/users/${none}`)).body.roles, [])
      const twice = idOf(await add({ roles: ['Viewer', 'Viewer', 'Operator'] }, browser))
      assert.deepEqual((await admin.get(`/v1/users/${twice}`)).body.roles, ['Operator', 'Viewer'])
      const [event] = await accountEvents(service, twice)
      assert.deepEqual(event?.data.roles, ['Viewer', 'Operator'])
    })

    it('creates a user who cannot sign in yet, with the same answer as for an unknown user', async () => {
      const id = idOf(await add({ email: 'silent@example.com' }))
      const tries = ['x', 'null', 'undefined', '$argon2id$', '\u0000'].map((password) =>
        service.client().post('/v1/auth/session', { email: 'silent@example.com', password }),
      )
      for (const answer of await Promise.all(tries)) assertProblem(answer, 401, 'invalid-credentials')
      assert.deepEqual(await liveCredentials(service, { id }), { sessions: 0, families: 0 })
    })

    it('leaves one event in the person’s name, with roles by name and no email', async () => {
      const id = idOf(await add({ roles: ['Operator'] }))
      assert.deepEqual(await accountEvents(service, id), [
        { kind: 'user-added', byId: 1, data: { name: `New${count}`, roles: ['Operator'] } },
      ])
    })

    it('stamps the event with the time zone of the person', async () => {
      const { user, caller } = await newAdministrator(service)
      await admin.patch(`/v1/users/${user.id}`, { timeZone: 'Asia/Tokyo' })
      const id = idOf(await add({}, caller))
      const [event] = await storedEvents(service.db.read, String(id))
      assert.equal(event?.at_time_zone, 'Asia/Tokyo')
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
      ['a name that is not text', { userName: ['jo'] }, { '#/userName': 'type' }],
      ['the reader in a filter', { userName: 'Me' }, { '#/userName': 'reserved' }],
      ['a person whose name was erased', { userName: 'person-17' }, { '#/userName': 'reserved' }],
      ['an email with two @', { email: 'a@b@c' }, { '#/email': 'format' }],
      ['an email with a space', { email: 'a b@c' }, { '#/email': 'format' }],
      ['an email that reads in another order', { email: 'a\u202eb@c' }, { '#/email': 'format' }],
      ['an email with what cannot be seen', { email: 'a\u200bb@c' }, { '#/email': 'format' }],
      ['an email of 255 characters', { email: `${'a'.repeat(253)}@b` }, { '#/email': 'length' }],
      ['roles that are no list', { roles: 'Admin' }, { '#/roles': 'type' }],
      ['51 roles', { roles: Array(51).fill('Viewer') }, { '#/roles': 'type' }],
      ['a role that is not text', { roles: [['Admin']] }, { '#/roles': 'format' }],
      ['a time zone that is an offset', { timeZone: '+01:00' }, { '#/timeZone': 'unknown' }],
      ['a time zone that is null', { timeZone: null }, { '#/timeZone': 'type' }],
    ]
    for (const [what, given, places] of cases) {
      it(`refuses ${what}, and says where`, async () => {
        assertFaults(await add(given), places)
      })
    }

    it('refuses members that are not its own: id, password, enabled', async () => {
      const answer = await add({ id: 1, password: 'quiet harbour lanterns', enabled: false })
      assertProblem(answer, 400, 'validation-failed')
      const places = answer.body.errors.map(({ pointer }: { pointer: string }) => pointer)
      assert.deepEqual(places, ['#/id', '#/password', '#/enabled'])
    })
  })

  describe('conflicts', () => {
    it('refuses the name of another user or service, ignoring case, and the email of another user', async () => {
      const user = await newUser(service)
      const client = await newClient(service)
      for (const userName of [user.userName.toUpperCase(), client.clientId]) {
        assertProblem(await add({ userName }), 409, 'name-taken')
      }
      assertProblem(await add({ email: user.email.toUpperCase() }), 409, 'email-taken')
    })

    it('refuses unknown roles, and names them', async () => {
      const answer = await add({ roles: ['Viewer', 'viewer', 'Boss'] })
      assertProblem(answer, 422, 'unknown-role')
      assert.equal(answer.body.detail, 'There is no role viewer, Boss.')
    })

    it('answers exactly one of 20 simultaneous requests for one name with 201', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => add({ userName: 'Contended' })))
      assertOneOf(answers, 201, 409, 'name-taken')
    })

    it('leaves no trace of what it refused', async () => {
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
