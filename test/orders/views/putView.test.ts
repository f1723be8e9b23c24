import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, beforeEach, describe, it } from 'node:test'
import { machineStamp } from '../../../server/audit/audit.ts'
import { bearerOf, machineOf, newCaller, newClient, newUser } from '../../support/accounts.ts'
import type { Client } from '../../support/client.ts'
import { assertProblem } from '../../support/problem.ts'
import { addRole } from '../../support/roles.ts'
import { testService } from '../../support/service.ts'
import { keptView, putView, storedViews, viewOf } from '../../support/views.ts'

describe('putView', () => {
  const service = testService()
  /** Holds Views.Share. */
  let admin: Client
  /** Somebody else, who does not. */
  let viewer: Client
  let own: Client
  let userName: string
  let ownId: number
  before(async () => {
    admin = await service.bearer('admin')
    viewer = await service.bearer('viewer')
  })
  beforeEach(async () => {
    const user = await newUser(service, { roles: ['Viewer'] })
    userName = user.userName
    ownId = user.id
    own = await bearerOf(service, user)
  })

  const read = (id: string, caller = own) => caller.get(`/v1/views/${id}`)

  describe('succeeds', () => {
    it('with 201, the view, its path and its first version, which a read then shows as well', async () => {
      const id = randomUUID()
      const content = viewOf({ columns: ['approvalsMissing', 'approvedBy', 'updatedAtUtc', 'id'] })
      const answer = await putView(own, content, { id })
      assert.equal(answer.status, 201, answer.text)
      assert.deepEqual(answer.body, { id, ...content, isOwn: true, owner: userName })
      assert.equal(answer.headers.get('location'), `/v1/views/${id}`)
      assert.equal(answer.headers.get('etag'), '"1"')
      assert.equal(answer.headers.get('cache-control'), 'private, no-cache')
      const now = await read(id)
      assert.deepEqual([now.status, now.body, now.headers.get('etag')], [200, answer.body, '"1"'])
    })

    it('with 200 and the next version for an id that is there, of which nothing is left', async () => {
      const id = await keptView(own)
      const next = viewOf({ filter: '', sort: { orderBy: 'customer', order: 0 }, columns: ['status'] })
      const answer = await putView(own, next, { id })
      assert.deepEqual([answer.status, answer.headers.get('etag')], [200, '"2"'])
      assert.equal(answer.headers.get('location'), null)
      assert.deepEqual((await read(id)).body, { id, ...next, isOwn: true, owner: userName })
    })

    it('with what the list takes: names in upper or lower case, directions by name; and returns them in one form', async () => {
      const id = randomUUID().toUpperCase()
      const sort = { orderBy: 'CREATEDATUTC', order: 'asc' }
      const { body } = await putView(own, viewOf({ sort, filter: ' Müller \n', name: ' A  b ' }), { id })
      assert.deepEqual(body.sort, { orderBy: 'createdAtUtc', order: 0 })
      assert.deepEqual([body.id, body.filter, body.name], [id.toLowerCase(), 'Müller', 'A  b'])
    })

    it('keeps a view of one person apart from those of another, under the same name', async () => {
      const [one, other] = [await keptView(own, { name: 'Mine' }), await keptView(viewer, { name: 'Mine' })]
      assert.notEqual(one, other)
      assert.equal((await viewer.send('DELETE', `/v1/views/${other}`)).status, 204)
    })

    it('keeps the name when only its case changes', async () => {
      const id = await keptView(own, { name: 'straße' })
      const answer = await putView(own, viewOf({ name: 'STRASSE' }), { id })
      assert.deepEqual([answer.status, answer.body.name], [200, 'STRASSE'])
    })

    it('ignores members that are none, and never binds them', async () => {
      const body = { ...viewOf(), id: randomUUID(), owner: 'admin', ownerId: 1, isOwn: false, version: 9 }
      const answer = await putView(own, body)
      assert.deepEqual([answer.status, answer.headers.get('etag')], [201, '"1"'])
      assert.deepEqual([answer.body.owner, answer.body.isOwn], [userName, true])
    })

    it('for a service as for a person', async () => {
      const client = await newClient(service, ['Viewer'])
      const caller = await machineOf(service, client)
      const id = await keptView(caller)
      assert.deepEqual([(await read(id, caller)).body.owner], [client.clientId])
    })
  })

  describe('rejects input', () => {
    const cases: [what: string, given: Record<string, unknown>, places: Record<string, string>][] = [
      ['a blank name', { name: ' \t' }, { '#/name': 'length' }],
      ['a name of 81 characters', { name: '𝄞'.repeat(81) }, { '#/name': 'length' }],
      ['a name that reorders text', { name: 'a\u202eb' }, { '#/name': 'characters' }],
      ['a name with a line break', { name: 'a\nb' }, { '#/name': 'characters' }],
      ['a name that cannot be seen', { name: '\u200b' }, { '#/name': 'characters' }],
      ['a name that is a number', { name: 7 }, { '#/name': 'type' }],
      ['a filter that is none', { filter: 'status=' }, { '#/filter': 'syntax' }],
      ['a filter that is a list', { filter: [] }, { '#/filter': 'type' }],
      ['a filter that is too long', { filter: 'x'.repeat(1_001) }, { '#/filter': 'syntax' }],
      ['a filter with NUL', { filter: 'a\u0000' }, { '#/filter': 'syntax' }],
      ['a filter with half a character', { filter: '\ud800' }, { '#/filter': 'syntax' }],
      ['no sort', { sort: null }, { '#/sort': 'type' }],
      ['a sort that is a list', { sort: [] }, { '#/sort': 'type' }],
      [
        'a sort of lists',
        { sort: { orderBy: ['total'], order: [1] } },
        { '#/sort/orderBy': 'enum', '#/sort/order': 'enum' },
      ],
      ['an empty sort', { sort: {} }, { '#/sort/orderBy': 'required', '#/sort/order': 'required' }],
      [
        'a sort by what no list is sorted by, in no direction',
        { sort: { orderBy: 'createdBy', order: 2 } },
        { '#/sort/orderBy': 'enum', '#/sort/order': 'enum' },
      ],
      [
        'a sort by SQL',
        { sort: { orderBy: 'id; drop table views', order: 0 } },
        { '#/sort/orderBy': 'enum' },
      ],
      ['no columns', { columns: [] }, { '#/columns': 'length' }],
      ['a column that there is not', { columns: ['id', 'password'] }, { '#/columns': 'enum' }],
      ['a column in another case', { columns: ['ID'] }, { '#/columns': 'enum' }],
      ['a column of every object', { columns: ['toString'] }, { '#/columns': 'enum' }],
      ['a column twice', { columns: ['id', 'total', 'id'] }, { '#/columns': 'repeated' }],
      ['columns that are a text', { columns: 'id' }, { '#/columns': 'type' }],
      ['a truth value as text', { shared: 'false' }, { '#/shared': 'type' }],
      ['all faults at once', { name: '', shared: 1 }, { '#/name': 'length', '#/shared': 'type' }],
    ]
    for (const [what, given, places] of cases) {
      it(`refuses ${what}, and says where`, async () => {
        const answer = await putView(own, viewOf(given))
        assertProblem(answer, 400, 'validation-failed')
        const named = answer.body.errors.map(({ pointer, code }: Record<string, string>) => [pointer, code])
        assert.deepEqual(Object.fromEntries(named), places)
      })
    }

    it('says where in the filter its fault stands, and what could stand there', async () => {
      const { body } = await putView(own, viewOf({ filter: 'status=Pending AND colour=red' }))
      const [{ pointer, position, length, detail, expected }] = body.errors
      assert.deepEqual([pointer, position, length], ['#/filter', 19, 6])
      assert.match(detail, /colour/)
      assert.ok(expected.includes('customer'))
    })

    it('demands every member', async () => {
      const answer = await putView(own, {})
      assertProblem(answer, 400, 'validation-failed')
      assert.deepEqual(
        answer.body.errors.map(({ pointer }: { pointer: string }) => pointer),
        ['#/name', '#/filter', '#/sort', '#/columns', '#/shared'],
      )
    })

    for (const id of ['none', '019a9d2e5b7c7f3a9c416d2f8e0b1a57', '%00', "1'--", 'a'.repeat(500)]) {
      it(`is 404 for the id ${id.slice(0, 40)}, which is none`, async () => {
        assertProblem(await putView(own, viewOf(), { id }), 404, 'view-not-found')
      })
    }

    it('is 409 for a name that another view of the same person has, ignoring case', async () => {
      await keptView(own, { name: 'Größe' })
      const other = await keptView(own)
      assertProblem(await putView(own, viewOf({ name: 'GRÖSSE' })), 409, 'view-name-taken')
      assertProblem(await putView(own, viewOf({ name: 'größe ' }), { id: other }), 409, 'view-name-taken')
    })

    it('is 409 for the 101st view of a person, who may still replace the others', async () => {
      const ids = await Promise.all(Array.from({ length: 100 }, () => keptView(own)))
      assertProblem(await putView(own, viewOf()), 409, 'too-many-views')
      const [id = ''] = ids
      assert.equal((await putView(own, viewOf(), { id })).status, 200)
      assert.equal((await own.send('DELETE', `/v1/views/${id}`)).status, 204)
      assert.equal((await putView(own, viewOf())).status, 201)
      assert.equal((await putView(viewer, viewOf())).status, 201)
    })
  })

  describe('requires access', () => {
    const shared = { shared: true }

    it('is 404 for a view that another has and does not share, as if there were none', async () => {
      const id = await keptView(own)
      for (const caller of [viewer, admin]) {
        assertProblem(await putView(caller, viewOf(), { id }), 404, 'view-not-found')
        assertProblem(await putView(caller, viewOf(shared), { id }), 404, 'view-not-found')
      }
      assert.equal((await read(id)).headers.get('etag'), '"1"')
    })

    it('is 403 naming the permission to a caller who shares a view without Views.Share', async () => {
      const id = await keptView(own)
      for (const answer of [await putView(own, viewOf(shared)), await putView(own, viewOf(shared), { id })]) {
        assertProblem(answer, 403, 'permission-denied')
        assert.equal(answer.body.permission, 'Views.Share')
      }
      assert.equal((await read(id)).body.shared, false)
    })

    it('is 403 for a shared view of another, and for the caller’s own after losing the permission', async () => {
      const role = await addRole(service, `Sharing-${randomUUID()}`, ['Orders.Read', 'Views.Share'])
      const user = await newUser(service, { roles: [role] })
      const id = await keptView(await bearerOf(service, user), shared)
      const change = { account: user.account, stamp: machineStamp(service.now()) }
      await service.db.write('revokeRoles', { ...change, roles: [role] })
      await service.db.write('grantRoles', { ...change, roles: ['Viewer'] })
      service.advance(1_000)
      for (const caller of [own, await bearerOf(service, user)]) {
        for (const isShared of [true, false]) {
          const answer = await putView(caller, viewOf({ shared: isShared }), { id })
          assertProblem(answer, 403, 'permission-denied')
        }
        assert.equal((await read(id, caller)).headers.get('etag'), '"1"')
      }
    })

    it('lets a caller with Views.Share change another’s shared view, whose owner stays', async () => {
      const id = await keptView(admin, shared)
      const role = await addRole(service, `Sharing-${randomUUID()}`, ['Orders.Read', 'Views.Share'])
      const other = await newCaller(service, [role])
      const next = viewOf(shared)
      const answer = await putView(other, next, { id })
      assert.deepEqual(answer.body, { id, ...next, isOwn: false, owner: 'admin' })
      assert.deepEqual((await read(id, admin)).body, { ...answer.body, isOwn: true })
    })

    it('lets a caller with Views.Share unshare another’s view: only its owner sees it', async () => {
      const id = await keptView(admin, shared)
      const role = await addRole(service, `Sharing-${randomUUID()}`, ['Orders.Read', 'Views.Share'])
      const other = await newCaller(service, [role])
      const answer = await putView(other, viewOf(), { id })
      assert.deepEqual([answer.status, answer.body.shared, answer.body.isOwn], [200, false, false])
      assertProblem(await read(id, other), 404, 'view-not-found')
      assert.equal((await read(id, admin)).body.isOwn, true)
    })

    it('takes nobody’s name from another: a shared one may have that of an own', async () => {
      const name = `Both ${randomUUID()}`
      await keptView(admin, { ...shared, name })
      assert.equal((await putView(own, viewOf({ name }))).status, 201)
    })
  })

  describe('takes If-Match', () => {
    it('replaces the version that it names, in any of its forms', async () => {
      const id = await keptView(own)
      for (const tag of ['"1"', 'W/"2"', '"9", "3"', '*']) {
        const answer = await putView(own, viewOf(), { id, headers: { 'if-match': tag } })
        assert.equal(answer.status, 200, `${tag}: ${answer.text}`)
      }
      assert.equal((await read(id)).headers.get('etag'), '"5"')
    })

    for (const tag of ['"2"', 'x', '""', 'W/"x"']) {
      it(`is 412 with the current version for ${tag}`, async () => {
        const id = await keptView(own)
        const answer = await putView(own, viewOf(), { id, headers: { 'if-match': tag } })
        assertProblem(answer, 412, 'precondition-failed')
        assert.equal(answer.headers.get('etag'), '"1"')
        assert.equal((await read(id)).headers.get('etag'), '"1"')
      })
    }

    it('makes nothing: it is 404 where there is no view yet', async () => {
      const id = randomUUID()
      for (const tag of ['*', '"1"']) {
        const answer = await putView(own, viewOf(), { id, headers: { 'if-match': tag } })
        assertProblem(answer, 404, 'view-not-found')
      }
      assertProblem(await read(id), 404, 'view-not-found')
    })
  })

  describe('conflicts', () => {
    it('of 20 at once with one version exactly one is 200, and its view stands', async () => {
      const id = await keptView(own)
      const bodies = Array.from({ length: 20 }, () => viewOf())
      const answers = await Promise.all(
        bodies.map((body) => putView(own, body, { id, headers: { 'if-match': '"1"' } })),
      )
      const winner = answers.findIndex(({ status }) => status === 200)
      for (const answer of answers.filter((_, index) => index !== winner)) {
        assertProblem(answer, 412, 'precondition-failed')
      }
      assert.equal((await read(id)).body.name, bodies[winner]?.name)
      assert.equal((await read(id)).headers.get('etag'), '"2"')
    })

    it('of 20 new ones of one name at once exactly one is 201', async () => {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => {
          return putView(own, viewOf({ name: index % 2 === 0 ? 'Rush' : 'RUSH' }))
        }),
      )
      assert.equal(answers.filter(({ status }) => status === 201).length, 1)
      for (const answer of answers) if (answer.status !== 201) assertProblem(answer, 409, 'view-name-taken')
    })

    it('of 105 new ones at once exactly 100 are 201', async () => {
      const answers = await Promise.all(Array.from({ length: 105 }, () => putView(own, viewOf())))
      const refused = answers.filter(({ status }) => status !== 201)
      assert.equal(refused.length, 5)
      for (const answer of refused) assertProblem(answer, 409, 'too-many-views')
      const { views } = await storedViews(service)
      assert.equal(views.filter((view) => view.owner_id === ownId).length, 100)
    })

    it('of 20 with one new id at once one is 201; the others replace it', async () => {
      const id = randomUUID()
      const answers = await Promise.all(Array.from({ length: 20 }, () => putView(own, viewOf(), { id })))
      const ends = answers.map(({ status, body }) => body.code ?? status)
      assert.equal(ends.filter((end) => end === 201).length, 1, String(ends))
      for (const end of ends) assert.ok([200, 201, 'concurrency-conflict'].includes(end), String(end))
    })

    it('of two people with one new id at once one has it', async () => {
      const id = randomUUID()
      const answers = await Promise.all([putView(own, viewOf(), { id }), putView(viewer, viewOf(), { id })])
      const statuses = answers.map(({ status }) => status).sort()
      assert.ok(['201,404', '201,409'].includes(String(statuses)), String(statuses))
    })
  })

  describe('leaves no trace on failure', () => {
    it('a refused change writes neither view nor event', async () => {
      const id = await keptView(own, { name: 'One' })
      const taken = await keptView(own, { name: 'Two' })
      const state = await storedViews(service)
      await putView(own, viewOf({ filter: '(' }), { id })
      await putView(own, viewOf({ name: 'two' }), { id })
      await putView(own, viewOf({ name: 'one' }))
      await putView(own, viewOf({ shared: true }), { id })
      await putView(own, viewOf(), { id: taken, headers: { 'if-match': '"7"' } })
      await putView(viewer, viewOf(), { id })
      assert.deepEqual(await storedViews(service), state)
    })
  })
})
