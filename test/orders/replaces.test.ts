// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newOrderedId } from '../../server/ids.ts'
import { newCaller } from '../support/accounts.ts'
import { storedEvents } from '../support/kept-log.ts'
import { createdId } from '../support/orders.ts'
import { assertFaults, assertOneOf, assertProblem } from '../support/problem.ts'
import { addRole } from '../support/roles.ts'
import { setUp, testService } from '../support/service.ts'

describe('createOrder with a note and an order to replace', () => {
  const service = testService()
  const admin = setUp(() => service.bearer('admin'))
  const operator = setUp(() => service.bearer('operator'))
  const order = { customer: 'Acme', total: 1 }
  const create = (more: object, headers?: Record<string, string>) =>
    operator.post('/v1/orders', { ...order, ...more }, headers)
  const rejected = async () => {
    const id = await createdId(operator)
    assert.equal((await admin.patch(`/v1/orders/${id}/reject`, { reason: 'Too much.' })).status, 204)
    return id
  }
  const listed = async (filter: string) => {
    const query = new URLSearchParams({ filter, columns: 'replaces,replacedBy' })
    return (await operator.get(`/v1/orders?${query}`)).body.items as {
      id: string
      replaces: string | null
      replacedBy: string | null
    }[]
  }
  const history = async (id: string) => (await operator.get(`/v1/orders/${id}/history`)).body.items

  it('keeps the note as an event of the creation, before anyone can decide', async () => {
    const { body, headers } = await create({ note: '  Two lines:\nas offered. ' })
    assert.equal(headers.get('etag'), '"1"')
    const events = await history(body.id)
    assert.deepEqual(
      events.map(({ kind, version, text, by }: never) => [kind, version, text, by]),
      [
        ['created', 1, null, 'operator'],
        ['noted', 1, 'Two lines:\nas offered.', 'operator'],
      ],
    )
  })

  it('lets a creator without Orders.Note add the note', async () => {
    const role = await addRole(service, 'Creating', ['Orders.Create', 'Orders.Read'])
    const creator = await newCaller(service, [role])
    const { body, status } = await creator.post('/v1/orders', { ...order, note: 'Why.' })
    assert.equal(status, 201)
    assert.equal((await history(body.id))[1].text, 'Why.')
  })

  it('replaces a rejected or withdrawn order once, and shows it on both', async () => {
    const former = await rejected()
    const { body } = await create({ replaces: former.toUpperCase() })
    const [later] = await listed(`id=${body.id}`)
    assert.deepEqual([later?.replaces, later?.replacedBy], [former, null])
    const [earlier] = await listed(`id=${former}`)
    assert.deepEqual([earlier?.replaces, earlier?.replacedBy], [null, body.id])
    assert.equal((await operator.get(`/v1/orders/${former}`)).headers.get('etag'), '"2"')
    assertProblem(await create({ replaces: former }), 409, 'already-replaced')

    const withdrawn = await createdId(operator)
    await operator.patch(`/v1/orders/${withdrawn}/withdraw`)
    assert.equal((await create({ replaces: withdrawn })).status, 201)
  })

  it('finds orders by what they replace and by what replaces them', async () => {
    const former = await rejected()
    const { id } = (await create({ replaces: former })).body
    const both = `(id=${id} OR id=${former})`
    const found = async (filter: string) => (await listed(`${both} ${filter}`)).map((each) => each.id)
    assert.deepEqual(await found(`replaces=${former}`), [id])
    assert.deepEqual(await found(`replaces:${former.slice(0, 8)}`), [id])
    assert.deepEqual(await found(`replacedBy=${id}`), [former])
    assert.deepEqual(await found('replacedBy:*'), [former])
    assert.deepEqual(await found('NOT replaces:*'), [former])
    assert.deepEqual(await found(`replaces!=${newOrderedId(0)}`), [id])
    assert.deepEqual(await found(`NOT replaces=${former}`), [former])
  })

  it('writes the former order into the event of the creation', async () => {
    const former = await rejected()
    const { id } = (await create({ replaces: former })).body
    const [created] = await storedEvents(service.db.read, id)
    assert.equal(JSON.parse(created?.data ?? '').replaces, former)
  })

  it('refuses to replace an order that is missing, pending or approved, and keeps nothing', async () => {
    const key = { 'idempotency-key': 'replace-nothing' }
    assertProblem(await create({ replaces: newOrderedId(0), note: 'x' }, key), 404, 'order-not-found')
    const id = await createdId(operator)
    const pending = await create({ replaces: id }, key)
    assertProblem(pending, 409, 'order-not-replaceable')
    assert.equal(pending.body.currentStatus, 0)
    await admin.patch(`/v1/orders/${id}/approve`)
    const approved = await create({ replaces: id }, key)
    assertProblem(approved, 409, 'order-not-replaceable')
    assert.equal(approved.body.currentStatus, 1)
    assert.deepEqual(await listed(`replaces=${id}`), [])
    assertFaults(await create({ replaces: 'x' }), { '#/replaces': 'format' })
    assertFaults(await create({ replaces: null }), { '#/replaces': 'type' })
    assertFaults(await create({ note: ' ' }), { '#/note': 'length' })
  })

  it('lets exactly one of many simultaneous orders replace it', async () => {
    const former = await rejected()
    const answers = await Promise.all(Array.from({ length: 20 }, () => create({ replaces: former })))
    assertOneOf(answers, 201, 409, 'already-replaced')
    const made = answers.find(({ status }) => status === 201)
    assert.deepEqual(
      (await listed(`replaces=${former}`)).map(({ id }) => id),
      [made?.body.id],
    )
  })
})
