import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import type { Batch } from '../../../client/src/changes.ts'
import { problemWith, serviceIs, settled } from '../../support/page.ts'
import { liveList } from './connection.ts'

const { client } = await import('../../../web/src/api/client.ts')
const { ProblemError } = await import('../../../web/src/api/problem.ts')

const line = (id: string, status = 1) => JSON.stringify({ id, kind: 'approved', version: 2, status })
const change = (id: string) => JSON.parse(line(id))

describe('the live list that a page reads', () => {
  let service: ReturnType<typeof liveList>
  serviceIs((_path, request) => service.answer(request))
  let heard: Batch[]
  let leaving: AbortController
  let isOver: boolean
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] })
    service = liveList()
    heard = []
    leaving = new AbortController()
    isOver = false
    void follow().then(() => {
      isOver = true
    })
  })
  async function follow(): Promise<void> {
    const following = client.orders.follow({ after: '1.2', signal: leaving.signal })
    try {
      for await (const batch of following) heard.push(batch)
    } catch (failure) {
      assert.ok(failure instanceof ProblemError)
    }
  }
  afterEach(async () => {
    leaving.abort()
    await settled()
    mock.timers.reset()
    assert.ok(isOver)
  })

  /** Lets time pass, and everything happen that is then due. */
  async function pass(milliseconds: number): Promise<void> {
    mock.timers.tick(milliseconds)
    await settled()
  }

  it('is passed on as soon as a block is whole, in however many pieces it comes', async () => {
    const { send } = await service.next()
    await send(`: 15 s\n\nid: 1.1\ndata: ${line('a')}`)
    assert.deepEqual(heard, [])
    await send('\n\n')
    assert.deepEqual(heard, [{ place: '1.1', changes: [change('a')], isReset: false }])
    await send(`id: 1.2\ndata: ${line('b')}\n\nid: 1.3\ndata: ${line('c')}\n\nid: 1.4\ndata`)
    assert.deepEqual(heard[1], { place: '1.3', changes: [change('b'), change('c')], isReset: false })
    await send(`: ${line('d')}\n\n`)
    assert.deepEqual(heard[2], { place: '1.4', changes: [change('d')], isReset: false })
  })

  it('begins where it is asked to', async () => {
    const { headers } = await service.next()
    assert.equal(headers.get('last-event-id'), '1.2')
  })

  it('resumes where it was lost, a second later', async () => {
    const { send, end } = await service.next()
    await send('id: 1.7\n\n')
    assert.deepEqual(heard, [{ place: '1.7', changes: [], isReset: false }])
    await end()
    await pass(999)
    assert.equal(await service.connection(), undefined)
    await pass(1)
    assert.equal((await service.next()).headers.get('last-event-id'), '1.7')
  })

  it('says that more was missed than is sent again', async () => {
    const { send } = await service.next()
    await send('event: reset\nid: 1.9\ndata: {}\n\n')
    assert.deepEqual(heard, [{ place: '1.9', changes: [], isReset: true }])
  })

  it('is asked for ever less often until something is heard', async () => {
    for (const seconds of [1, 2, 4, 8, 10, 10]) {
      await (await service.next()).end()
      await pass(seconds * 1_000 - 1)
      assert.equal(await service.connection(), undefined)
      await pass(1)
    }
    const { send, end } = await service.next()
    await send('id: 1.1\n\n')
    await end()
    await pass(1_000)
    await service.next()
  })

  it('counts as lost after 35 s of silence, which any sign of life ends', async () => {
    const connection = await service.next()
    await pass(34_999)
    await connection.send(': 15 s\n\n')
    await pass(34_999)
    assert.equal(connection.isOver(), false)
    await pass(1)
    assert.equal(connection.isOver(), true)
    await pass(1_000)
    await service.next()
  })

  for (const status of [401, 403]) {
    it(`ends when it is refused with ${status}, but not while the service is not ready`, async () => {
      service.refuses = () => problemWith(503, 'database-unavailable')
      await (await service.next()).end()
      await pass(1_000)
      assert.equal(isOver, false)
      service.refuses = () => problemWith(status, 'permission-denied')
      await pass(2_000)
      assert.equal(isOver, true)
    })
  }

  it('ends if the account has too many streams, unless that may be its own lost one', async () => {
    const first = await service.next()
    service.refuses = () => problemWith(429, 'too-many-streams')
    await assert.rejects(client.orders.follow().next(), { name: 'ProblemError' })
    await first.send('id: 1.3\n\n')
    await first.end()
    for (const pause of [1_000, 1_000, 2_000, 4_000]) {
      await pass(pause)
      assert.equal(isOver, false)
    }
    await pass(8_000)
    assert.equal(isOver, true)
  })

  it('ends with its connection when the page leaves', async () => {
    const connection = await service.next()
    leaving.abort()
    await settled()
    assert.deepEqual([connection.isOver(), isOver], [true, true])
  })
})
