// engine: both
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, it } from 'node:test'
import {
  bearerOf,
  grantRoles,
  machineOf,
  newCaller,
  newClient,
  newUser,
  revokeRoles,
} from '../../support/accounts.ts'
import type { Client } from '../../support/client.ts'
import { assertFaults, assertInvalid, assertProblem } from '../../support/problem.ts'
import { addRole } from '../../support/roles.ts'
import { setUp, testService } from '../../support/service.ts'
import { keptView, putView, storedViews, viewOf } from '../../support/views.ts'

describe('putView', () => {
  const service = testService()
  /** Holds Views.Share. */
  const admin = setUp(() => service.bearer('admin'))
  const viewer = setUp(() => service.bearer('viewer'))
  /** Another person, who does not. */
  let own: Client
  let userName: string
  let ownId: number
  beforeEach(async () => {
    const user = await newUser(service, { roles: ['Viewer'] })
    userName = user.userName
    ownId = user.id
    own = await bearerOf(service, user)
  })

  const read = (id: string, caller = own) => caller.get(`/v1/views/${id}`)

  describe('succeeds', () => {
    it('answers 201 with the view, its path and its first version, which a read then shows as well', async () => {
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

    it('answers 200 with the next version for an existing id, and leaves nothing of the old view', async () => {
      const id = await keptView(own)
      const next = viewOf({ filter: '', sort: { orderBy: 'customer', order: 0 }, columns: ['status'] })
      const answer = await putView(own, next, { id })
      assert.deepEqual([answer.status, answer.headers.get('etag')], [200, '"2"'])
      assert.equal(answer.headers.get('location'), null)
      assert.deepEqual((await read(id)).body, { id, ...next, isOwn: true, owner: userName })
    })

    it('accepts names in upper or lower case and directions by name, as the list does, and returns them in one form', async () => {
      const id = randomUUID().toUpperCase()
      const sort = { orderBy: 'CREATEDATUTC', order: 'asc' }
      const { body } = await putView(own, viewOf({ sort, filter: ' Müller \n', name: ' A  b ' }), { id })
      assert.deepEqual(body.sort, { orderBy: 'createdAtUtc', order: 0 })
      assert.deepEqual([body.id, body.filter, body.name], [id.toLowerCase(), 'Müller', 'A  b'])
    })

    it('keeps views of two people apart, even under the same name', async () => {
      const [one, other] = [await keptView(own, { name: 'Mine' }), await keptView(viewer, { name: 'Mine' })]
      assert.notEqual(one, other)
      assert.equal((await viewer.send('DELETE', `/v1/views/${other}`)).status, 204)
    })

    it('keeps the name when only its case changes', async () => {
      const id = await keptView(own, { name: 'straße' })
      const answer = await putView(own, viewOf({ name: 'STRASSE' }), { id })
      assert.deepEqual([answer.status, answer.body.name], [200, 'STRASSE'])
    })

    it('ignores unknown members, and never binds them', async () => {
      const body = { ...viewOf(), id: randomUUID(), owner: 'admin', ownerId: 1, isOwn: false, version: 9 }
      const answer = await putView(own, body)
      assert.deepEqual([answer.status, answer.headers.get('etag')], [201, '"1"'])
      assert.deepEqual([answer.body.owner, answer.body.isOwn], [userName, true])
    })

    it('works for a service as for a person', async () => {
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
        assertFaults(await putView(own, viewOf(given)), places)
      })
    }

    it('says where in the filter its fault is, and what could be there', async () => {
      const { body } = await putView(own, viewOf({ filter: 'status=Pending AND colour=red' }))
      const [{ pointer, position, length, detail, expected }] = body.errors
      assert.deepEqual([pointer, position, length], ['#/filter', 19, 6])
      assert.match(detail, /colour/)
      assert.ok(expected.includes('customer'))
    })

    it('requires every member', async () => {
      const members = ['#/name', '#/filter', '#/sort', '#/columns', '#/shared']
      assertInvalid(await putView(own, {}), members)
    })

    for (const id of ['none', '019a9d2e5b7c7f3a9c416d2f8e0b1a57', '%00', "1'--", 'a'.repeat(500)]) {
      it(`answers 404 for the malformed id ${id.slice(0, 40)}`, async () => {
        assertProblem(await putView(own, viewOf(), { id }), 404, 'view-not-found')
      })
    }

    it('answers 409 for a name that another view of the same person has, ignoring case', async () => {
      await keptView(own, { name: 'Größe' })
      const other = await keptView(own)
      assertProblem(await putView(own, viewOf({ name: 'GRÖSSE' })), 409, 'view-name-taken')
      assertProblem(await putView(own, viewOf({ name: 'größe ' }), { id: other }), 409, 'view-name-taken')
    })

    it('answers 409 for the 101st view of a person, who may still replace the others', async () => {
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
    const newSharingRole = () => addRole(service, `Sharing-${randomUUID()}`, ['Orders.Read', 'Views.Share'])
    const other = setUp(async () => newCaller(service, [await newSharingRole()]))

    it('answers 404 for another user’s private view, as if it did not exist', async () => {
      const id = await keptView(own)
      for (const caller of [viewer, admin]) {
        assertProblem(await putView(caller, viewOf(), { id }), 404, 'view-not-found')
        assertProblem(await putView(caller, viewOf(shared), { id }), 404, 'view-not-found')
      }
      assert.equal((await read(id)).headers.get('etag'), '"1"')
    })

    it('answers 403 naming the permission to a caller who shares a view without Views.Share', async () => {
      const id = await keptView(own)
      for (const answer of [await putView(own, viewOf(shared)), await putView(own, viewOf(shared), { id })]) {
        assertProblem(answer, 403, 'permission-denied')
        assert.equal(answer.body.permission, 'Views.Share')
      }
      assert.equal((await read(id)).body.shared, false)
    })

    it('answers 403 for another user’s shared view, and for the caller’s own once the permission is lost', async () => {
      const role = await newSharingRole()
      const user = await newUser(service, { roles: [role] })
      const id = await keptView(await bearerOf(service, user), shared)
      await revokeRoles(service, user, [role])
      await grantRoles(service, user, ['Viewer'])
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
      const next = viewOf(shared)
      const answer = await putView(other, next, { id })
      assert.deepEqual(answer.body, { id, ...next, isOwn: false, owner: 'admin' })
      assert.deepEqual((await read(id, admin)).body, { ...answer.body, isOwn: true })
    })

    it('lets a caller with Views.Share unshare another’s view: then only its owner sees it', async () => {
      const id = await keptView(admin, shared)
      const answer = await putView(other, viewOf(), { id })
      assert.deepEqual([answer.status, answer.body.shared, answer.body.isOwn], [200, false, false])
      assertProblem(await read(id, other), 404, 'view-not-found')
      assert.equal((await read(id, admin)).body.isOwn, true)
    })

    it('shows nobody the names of another’s private views: renaming and unsharing succeed', async () => {
      const id = await keptView(admin, shared)
      const name = `Private ${randomUUID()}`
      const hidden = await keptView(admin, { name })
      for (const isShared of [true, false]) {
        const answer = await putView(other, viewOf({ name, shared: isShared }), { id })
        assert.deepEqual([answer.status, answer.body.name], [200, name], answer.text)
      }
      assert.equal((await read(hidden, admin)).body.name, name)
      assertProblem(await putView(admin, viewOf({ name }), { id }), 409, 'view-name-taken')
    })

    it('answers 409 for the name of a view of the owner that the caller sees', async () => {
      const name = `Shared ${randomUUID()}`
      await keptView(admin, { ...shared, name })
      const id = await keptView(admin, shared)
      assertProblem(await putView(other, viewOf({ ...shared, name }), { id }), 409, 'view-name-taken')
    })

    it('lets a shared view have the name of another person’s own view', async () => {
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
      it(`answers 412 with the current version for ${tag}`, async () => {
        const id = await keptView(own)
        const answer = await putView(own, viewOf(), { id, headers: { 'if-match': tag } })
        assertProblem(answer, 412, 'precondition-failed')
        assert.equal(answer.headers.get('etag'), '"1"')
        assert.equal((await read(id)).headers.get('etag'), '"1"')
      })
    }

    it('creates nothing: answers 404 if there is no view yet', async () => {
      const id = randomUUID()
      for (const tag of ['*', '"1"']) {
        const answer = await putView(own, viewOf(), { id, headers: { 'if-match': tag } })
        assertProblem(answer, 404, 'view-not-found')
      }
      assertProblem(await read(id), 404, 'view-not-found')
    })
  })

  describe('conflicts', () => {
    it('accepts exactly one of 20 simultaneous changes of one version, whose view stays', async () => {
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

    it('answers 201 to exactly one of 20 simultaneous new views of one name', async () => {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => {
          return putView(own, viewOf({ name: index % 2 === 0 ? 'Rush' : 'RUSH' }))
        }),
      )
      assert.equal(answers.filter(({ status }) => status === 201).length, 1)
      for (const answer of answers) if (answer.status !== 201) assertProblem(answer, 409, 'view-name-taken')
    })

    it('answers 201 to exactly 100 of 105 simultaneous new views', async () => {
      const answers = await Promise.all(Array.from({ length: 105 }, () => putView(own, viewOf())))
      const refused = answers.filter(({ status }) => status !== 201)
      assert.equal(refused.length, 5)
      for (const answer of refused) assertProblem(answer, 409, 'too-many-views')
      const { views } = await storedViews(service)
      assert.equal(views.filter((view) => view.owner_id === ownId).length, 100)
    })

    it('answers 201 to one of 20 requests with the same new id, and lets the others replace it', async () => {
      const id = randomUUID()
      const answers = await Promise.all(Array.from({ length: 20 }, () => putView(own, viewOf(), { id })))
      const ends = answers.map(({ status, body }) => body.code ?? status)
      assert.equal(ends.filter((end) => end === 201).length, 1, String(ends))
      for (const end of ends) assert.ok([200, 201, 'concurrency-conflict'].includes(end), String(end))
    })

    it('gives a new id to one of two people who use it at once', async () => {
      const id = randomUUID()
      const answers = await Promise.all([putView(own, viewOf(), { id }), putView(viewer, viewOf(), { id })])
      const statuses = answers.map(({ status }) => status).sort()
      assert.ok(['201,404', '201,409'].includes(String(statuses)), String(statuses))
    })
  })

  it('writes neither view nor event when it is refused', async () => {
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
