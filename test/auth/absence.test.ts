import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { machineStamp } from '../../server/caller/stamp.ts'
import { bearerOf, machineOf, newClient, newUser, setEnabled } from '../support/accounts.ts'
import { accountEvents, newAdministrator } from '../support/administration.ts'
import type { Client } from '../support/client.ts'
import { assertFaults, assertProblem } from '../support/problem.ts'
import { setUp, testService } from '../support/service.ts'

const hour = 3_600_000
const path = '/v1/auth/absence'

describe('getAbsence, setAbsence and endAbsence', () => {
  const service = testService()
  const ann = setUp(() => newUser(service, { roles: ['Admin'] }), beforeEach)
  const caller = setUp(() => bearerOf(service, ann), beforeEach)
  const bo = setUp(() => newUser(service, { roles: ['Viewer'] }), beforeEach)

  const at = (milliseconds: number) => new Date(service.now() + milliseconds).toISOString()
  const put = (from: number, until: number, deputyId: unknown = bo.id, by: Client = caller) =>
    by.send('PUT', path, { from: at(from), until: at(until), deputyId })
  const none = { from: null, until: null, deputyId: null, deputy: null, standingInFor: [] }
  const stored = async () => (await caller.get(path)).body
  const kinds = async () => (await accountEvents(service, ann.id)).slice(1).map(({ kind }) => kind)

  it('keep one absence, with an event for each change', async () => {
    assert.deepEqual(await stored(), none)
    assert.equal((await put(hour, 2 * hour)).status, 204)
    const own = { from: at(hour), until: at(2 * hour), deputyId: bo.id, deputy: bo.userName }
    assert.deepEqual(await stored(), { ...own, standingInFor: [] })
    const [{ data } = assert.fail()] = (await accountEvents(service, ann.id)).slice(-1)
    assert.deepEqual(data, { name: ann.userName, ...own })
    await put(hour, 3 * hour)
    assert.equal((await stored()).until, at(3 * hour))
    const other = await bearerOf(service, await newUser(service))
    assert.equal((await put(hour, 2 * hour, bo.id, other)).status, 204)
    assert.equal((await caller.send('DELETE', path)).status, 204)
    assert.deepEqual(await stored(), none)
    assert.equal((await other.get(path)).body.deputyId, bo.id)
    assert.deepEqual(await kinds(), ['absence-set', 'absence-set', 'absence-ended'])
  })

  it('record nothing where nothing changes', async () => {
    assert.equal((await caller.send('DELETE', path)).status, 204)
    await put(hour, 2 * hour)
    await put(hour, 2 * hour)
    assert.deepEqual(await kinds(), ['absence-set'])
  })

  it('begin no earlier than now, and keep the beginning of one that has begun', async () => {
    await put(hour, 2 * hour)
    await put(-hour, hour)
    const began = at(0)
    assert.equal((await stored()).from, began)
    service.advance(60_000)
    await put(-hour, 2 * hour)
    assert.equal((await stored()).from, began)
    await put(-hour, 366 * 24 * hour)
    assert.equal((await stored()).from, at(0), 'no absence lasts longer than 366 days')
    await put(hour, 2 * hour)
    assert.equal((await stored()).from, at(hour), 'it may begin again later')
  })

  it('are shown to the deputy while they last, to the millisecond', async () => {
    const deputy = await bearerOf(service, bo)
    const standingIn = async () => (await deputy.get(path)).body.standingInFor
    await put(1_000, 2_000)
    const until = at(2_000)
    service.advance(999)
    assert.deepEqual(await standingIn(), [])
    service.advance(1)
    assert.deepEqual(await standingIn(), [{ id: ann.id, name: ann.userName, until }])
    service.advance(999)
    assert.equal((await standingIn()).length, 1)
    service.advance(1)
    assert.deepEqual([await standingIn(), await stored()], [[], none])
    assert.equal((await caller.send('DELETE', path)).status, 204)
    assert.deepEqual(await kinds(), ['absence-set'], 'its end leaves no event')
  })

  it('refuse dates that make no absence, and name the broken rule', async () => {
    const day = 24 * hour
    assertFaults(await put(-hour, 0), { '#/until': 'past' })
    assertFaults(await put(hour, hour), { '#/until': 'order' })
    assertFaults(await put(0, 366 * day + 1), { '#/until': 'range' })
    assert.equal((await put(0, 366 * day)).status, 204)
    const odd = { from: 'soon', until: 7, deputyId: '1e400' }
    const faults = { '#/from': 'format', '#/until': 'type', '#/deputyId': 'type' }
    assertFaults(await caller.send('PUT', path, odd), faults)
    const more = { from: at(0), until: at(hour), deputyId: bo.id, to: 'x' }
    assertFaults(await caller.send('PUT', path, more), { '#/to': 'unknown' })
  })

  it('refuse a person who cannot be a deputy', async () => {
    const stranger = await newUser(service, { roles: [] })
    const disabled = await newUser(service, { roles: ['Admin'] })
    await setEnabled(service, disabled, false)
    const machine = await newClient(service)
    for (const { id } of [ann, stranger, disabled, machine, { id: 2_147_483_647 }]) {
      assertProblem(await put(0, hour, id), 422, 'not-a-deputy')
    }
    assert.deepEqual([await stored(), await kinds()], [none, []])
  })

  it('let a person be the deputy of 20 others at most', async () => {
    for (let others = 0; others < 20; others += 1) {
      const other = await newUser(service)
      const absence = { from: service.now(), until: service.now() + hour, deputyId: bo.id }
      const person = { id: other.id, name: other.userName }
      const set = () =>
        service.db.write('setAbsence', { person, absence, stamp: machineStamp(service.now()) })
      await set()
      // Their own absence is not one of the others.
      await set()
    }
    const refused = await put(0, hour)
    assertProblem(refused, 422, 'not-a-deputy')
    assert.equal(refused.body.detail, `${bo.userName} is already the deputy of 20 others.`)
    service.advance(hour)
    assert.equal((await put(0, hour, bo.id, await bearerOf(service, ann))).status, 204)
  })

  it('need a person who has just signed in', async () => {
    const machine = await machineOf(service, await newClient(service, ['Admin']))
    assertProblem(await put(0, hour, bo.id, machine), 403, 'not-for-services')
    assertProblem(await machine.get(path), 403, 'not-for-services')
    service.advance(5 * 60_000)
    assertProblem(await put(0, hour), 403, 'recent-sign-in-needed')
    assert.equal((await caller.send('DELETE', path)).status, 204)
  })

  it('let an administrator read and end it, and nobody else', async () => {
    await put(0, hour)
    const { caller: admin, user } = await newAdministrator(service)
    const viewer = await service.bearer('viewer')
    const address = `/v1/users/${ann.id}/absence`
    assert.deepEqual((await admin.get(address)).body, await stored())
    assertProblem(await viewer.get(address), 403, 'permission-denied')
    assertProblem(await viewer.send('DELETE', address), 403, 'permission-denied')
    assertProblem(await admin.get('/v1/users/0/absence'), 404, 'user-not-found')
    assertProblem(await admin.send('DELETE', '/v1/users/2147483647/absence'), 404, 'user-not-found')
    assert.equal((await admin.send('DELETE', address)).status, 204)
    assert.deepEqual(await stored(), none)
    assert.equal((await accountEvents(service, ann.id)).at(-1)?.byId, user.id)
  })
})

describe('listDeputies', () => {
  const service = testService()
  it('lists enabled persons who may read orders, by the beginning of their names', async () => {
    const caller = await bearerOf(service, await newUser(service, { roles: [] }))
    const { body } = await caller.get(`${path}/deputies?filter=Oper`)
    const [{ id, name, ...rest } = assert.fail()] = body.items
    assert.deepEqual([name, rest], ['operator', {}])
    assert.ok(Number.isInteger(id))
    assert.deepEqual((await caller.get(`${path}/deputies?filter=demo-s`)).body.items, [], 'a service')
    assert.ok((await caller.get(`${path}/deputies`)).body.items.length >= 3)
    assert.equal((await caller.get(`${path}/deputies?filter=${encodeURIComponent("x' or 1=1")}`)).status, 200)
    const own = await bearerOf(service, await newUser(service, { roles: ['Viewer'] }))
    const { userName } = (await own.get('/v1/auth/me')).body
    assert.deepEqual((await own.get(`${path}/deputies?filter=${userName}`)).body.items, [], 'oneself')
  })
})
