// engine: both
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, it } from 'node:test'
import { bearerOf, machineOf, newClient, newUser } from '../../support/accounts.ts'
import type { Client } from '../../support/client.ts'
import { assertFaults, assertInvalid, assertProblem } from '../../support/problem.ts'
import { setUp, testService } from '../../support/service.ts'
import { keptView, putView, storedViews, viewOf } from '../../support/views.ts'

describe('putView', () => {
  const service = testService()
  const admin = setUp(() => service.bearer('admin'))
  const viewer = setUp(() => service.bearer('viewer'))
  let own: Client
  let ownId: number
  beforeEach(async () => {
    const user = await newUser(service, { roles: ['Viewer'] })
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
      assert.deepEqual(answer.body, { id, ...content })
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
      assert.deepEqual((await read(id)).body, { id, ...next })
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
      const body = { ...viewOf(), id: randomUUID(), ownerId: 1, shared: true, version: 9 }
      const answer = await putView(own, body)
      assert.deepEqual([answer.status, answer.headers.get('etag')], [201, '"1"'])
      assert.deepEqual(Object.keys(answer.body), ['id', ...Object.keys(viewOf())])
    })

    it('works for a service as for a person', async () => {
      const client = await newClient(service, ['Viewer'])
      const caller = await machineOf(service, client)
      const id = await keptView(caller)
      assert.equal((await read(id, caller)).status, 200)
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
      ['an unknown column', { columns: ['id', 'password'] }, { '#/columns': 'enum' }],
      ['a column in another case', { columns: ['ID'] }, { '#/columns': 'enum' }],
      ['a column of every object', { columns: ['toString'] }, { '#/columns': 'enum' }],
      ['a column twice', { columns: ['id', 'total', 'id'] }, { '#/columns': 'repeated' }],
      ['columns that are a text', { columns: 'id' }, { '#/columns': 'type' }],
      ['all faults at once', { name: '', columns: 1 }, { '#/name': 'length', '#/columns': 'type' }],
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
      const members = ['#/name', '#/filter', '#/sort', '#/columns']
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

    it('answers 409 for the 26th view of a person, who may still replace the others', async () => {
      const ids = await Promise.all(Array.from({ length: 25 }, () => keptView(own)))
      assertProblem(await putView(own, viewOf()), 409, 'too-many-views')
      const [id = ''] = ids
      assert.equal((await putView(own, viewOf(), { id })).status, 200)
      assert.equal((await own.send('DELETE', `/v1/views/${id}`)).status, 204)
      assert.equal((await putView(own, viewOf())).status, 201)
      assert.equal((await putView(viewer, viewOf())).status, 201)
    })
  })

  describe('requires access', () => {
    it('makes another view under the id of another user’s, which stays as it is', async () => {
      const content = viewOf()
      const id = await keptView(own, content)
      assert.equal((await putView(admin, viewOf(), { id })).status, 201)
      assert.deepEqual((await read(id)).body, { id, ...content })
      assertProblem(
        await putView(viewer, viewOf(), { id, headers: { 'if-match': '*' } }),
        404,
        'view-not-found',
      )
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

    it('answers 201 to exactly 25 of 30 simultaneous new views', async () => {
      const answers = await Promise.all(Array.from({ length: 30 }, () => putView(own, viewOf())))
      const refused = answers.filter(({ status }) => status !== 201)
      assert.equal(refused.length, 5)
      for (const answer of refused) assertProblem(answer, 409, 'too-many-views')
      const { views } = await storedViews(service)
      assert.equal(views.filter((view) => view.owner_id === ownId).length, 25)
    })

    it('answers 201 to one of 20 requests with the same new id, and lets the others replace it', async () => {
      const id = randomUUID()
      const answers = await Promise.all(Array.from({ length: 20 }, () => putView(own, viewOf(), { id })))
      const statuses = answers.map(({ status }) => status).sort()
      assert.deepEqual(statuses, [...Array.from({ length: 19 }, () => 200), 201])
    })
  })

  it('writes neither view nor event when it is refused', async () => {
    const id = await keptView(own, { name: 'One' })
    const taken = await keptView(own, { name: 'Two' })
    const state = await storedViews(service)
    await putView(own, viewOf({ filter: '(' }), { id })
    await putView(own, viewOf({ name: 'two' }), { id })
    await putView(own, viewOf({ name: 'one' }))
    await putView(own, viewOf(), { id: taken, headers: { 'if-match': '"7"' } })
    assert.deepEqual(await storedViews(service), state)
  })
})
