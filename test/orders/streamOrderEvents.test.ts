// engine: SQLite, waits
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { isBefore, readPlace } from '../../proof/place.ts'
import {
  bearerOf,
  newCaller,
  newUser,
  revokeRoles,
  setEnabled,
  signIn,
  type TestUser,
} from '../support/accounts.ts'
import type { Client } from '../support/client.ts'
import { addEvents, seal } from '../support/log.ts'
import { createdId, stamp } from '../support/orders.ts'
import { setUp, startService, testService } from '../support/service.ts'
import { openStream, type Stream, until } from '../support/stream.ts'

describe('streamOrderEvents', () => {
  const service = testService({ inside: true })
  const operator = setUp(() => service.bearer('operator'))
  const admin = setUp(() => service.bearer('admin'))
  before(async () => {
    await seal(service.db)
  })

  /** A new caller, without streams. */
  const newViewer = () => newCaller(service, ['Viewer'])

  async function open(t: { after: (end: () => void) => void }, caller: Client, lastEventId?: string) {
    const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
    const stream = await openStream(caller, headers)
    t.after(() => stream.close())
    assert.equal(stream.response.statusCode, 200)
    return stream
  }

  async function create(count: number): Promise<string[]> {
    const ids: string[] = []
    for (let made = 0; made < count; made += 1) ids.push(await createdId(operator))
    await seal(service.db)
    return ids
  }

  const idsOf = (stream: Stream) => stream.told.map(({ id }) => id)

  describe('succeeds', () => {
    it('reports what happens to orders from now on, briefly, in the order of the log', async (t) => {
      await create(1)
      const stream = await open(t, await newViewer())
      assert.equal(stream.response.headers['content-type'], 'text/event-stream; charset=utf-8')
      assert.equal(stream.response.headers['x-accel-buffering'], 'no')
      assert.equal(stream.response.headers['cache-control'], 'no-store')
      const [approved, rejected, withdrawn] = await create(3)
      await admin.patch(`/v1/orders/${approved}/approve`)
      await operator.post(`/v1/orders/${approved}/notes`, { text: 'Called.' })
      await admin.patch(`/v1/orders/${rejected}/reject`, { reason: 'Ordered twice.' })
      await operator.patch(`/v1/orders/${withdrawn}/withdraw`)
      await seal(service.db)
      const told = await stream.hears(7)
      assert.deepEqual(
        told.map(({ sequence: _, ...change }) => change),
        [
          { id: approved, kind: 'created', version: 1, status: 0 },
          { id: rejected, kind: 'created', version: 1, status: 0 },
          { id: withdrawn, kind: 'created', version: 1, status: 0 },
          { id: approved, kind: 'approved', version: 2, status: 1 },
          { id: approved, kind: 'noted', version: 2, status: 1 },
          { id: rejected, kind: 'rejected', version: 2, status: 2 },
          { id: withdrawn, kind: 'withdrawn', version: 2, status: 3 },
        ],
      )
      const { body } = await admin.get('/v1/log?order=Desc&pageSize=7')
      const sequences = body.items.map((event: { sequence: number }) => event.sequence)
      assert.deepEqual(
        told.map(({ sequence }) => sequence),
        sequences.toReversed(),
      )
    })

    it('skips events of accounts', async (t) => {
      const stream = await open(t, await newViewer())
      await newUser(service, { roles: ['Viewer'] })
      const [id] = await create(1)
      await stream.hears(1)
      assert.deepEqual(idsOf(stream), [id])
    })

    it('continues after Last-Event-ID, for callers at different places', async (t) => {
      const first = await open(t, await newViewer())
      const ids = await create(6)
      const told = await first.hears(6)
      const places = [0, 2, 5].map((index) => `1.${told[index]?.sequence}`)
      const streams = await Promise.all(places.map(async (place) => open(t, await newViewer(), place)))
      const [last] = await create(1)
      for (const [index, stream] of streams.entries()) {
        const missed = ids.slice([1, 3, 6][index])
        await stream.hears(missed.length + 1)
        assert.deepEqual(idsOf(stream), [...missed, last])
      }
    })

    it('begins with its place in the log, so that a caller who has received no event can resume too', async (t) => {
      const silent = await open(t, await newViewer())
      silent.close()
      const [id] = await create(1)
      const stream = await open(t, await newViewer(), silent.lastEventId)
      await stream.hears(1)
      assert.deepEqual(idsOf(stream), [id])
    })

    it('reports an order that came between the answer of a list and the stream, whatever the list', async (t) => {
      const viewer = await newViewer()
      await seal(service.db)
      await createdId(operator)
      for (const query of [
        '',
        '?filter=status%3DApproved',
        '?filter=nobody&orderBy=total',
        '?paginated=false',
      ]) {
        const { headers } = await viewer.get(`/v1/orders${query}`)
        const etag = { 'if-none-match': headers.get('etag') ?? '' }
        const unchanged = await viewer.get(`/v1/orders${query}`, etag)
        assert.equal(unchanged.headers.get('last-event-id'), headers.get('last-event-id'))
        const [between = ''] = await create(1)
        const stream = await open(t, viewer, headers.get('last-event-id') ?? '')
        const [last = ''] = await create(1)
        await stream.hearsOf(last, 1)
        assert.ok(idsOf(stream).includes(between), query)
        stream.close()
      }
    })

    it('replays at most 5,000 events; from further back it sends `reset` and begins now', async (t) => {
      const viewer = await newViewer()
      await seal(service.db)
      const { lastEventId, sequence } = await open(t, viewer)
      await addEvents(service, 5_001, 0)
      const behind = await open(t, viewer, `1.${sequence + 1}`)
      await behind.hears(5_000)
      const far = await open(t, viewer, lastEventId)
      await until(() => far.resets === 1)
      assert.equal(far.lastEventId, behind.lastEventId)
      const [id] = await create(1)
      await far.hears(1)
      await behind.hears(5_001)
      assert.deepEqual([idsOf(far), behind.resets, far.resets], [[id], 0, 1])
    })

    it('sends `reset` and begins now if the id is no place of this log', async (t) => {
      await create(1)
      const invalid = ['1', '9'.repeat(400), '-1', 'x', '1.-5', '01.5', '1.05', '1.5 ', '0.5', '']
      for (const id of [...invalid, '1.999999999999999', '2.0']) {
        const stream = await open(t, await newViewer(), id)
        await until(() => stream.resets === 1)
        const [made] = await create(1)
        await stream.hears(1)
        assert.deepEqual([idsOf(stream), stream.resets], [[made], 1], id)
        stream.close()
      }
    })

    it('sends `reset` to all, once each, when an era begins', async (t) => {
      const own = await startService({ inside: true, until: t })
      const viewer = await newCaller(own, ['Viewer'])
      await seal(own.db)
      const [waiting, left] = [await openStream(viewer), await openStream(viewer)]
      left.close()
      const { era, last } = await own.db.write('beginEra', { atLeast: 1, stamp: stamp() })
      await until(() => waiting.resets === 1)
      const returned = await openStream(viewer, { 'last-event-id': left.lastEventId })
      await until(() => returned.resets === 1)
      const id = await createdId(await own.bearer('operator'))
      await seal(own.db)
      for (const stream of [waiting, returned]) {
        await stream.hearsOf(id, 1)
        assert.deepEqual([stream.resets, stream.lastEventId.split('.')[0]], [1, String(era)])
        assert.ok(stream.told.every(({ sequence }) => sequence > last.sequence + 1))
        stream.close()
      }
    })

    it('loses and repeats nothing while events pour in and callers come and go', async (t) => {
      let stream = await open(t, await newViewer())
      const start = stream.lastEventId
      let isOver = false
      const pouring = Array.from({ length: 4 }, async () => {
        const ids: string[] = []
        while (!isOver) {
          ids.push(await createdId(operator))
          await wait(10)
        }
        return ids
      })
      const sealing = (async () => {
        while (!isOver) {
          await seal(service.db)
          await wait(20)
        }
      })()
      const caller = await newViewer()
      const heard: string[] = []
      for (let round = 0; round < 8; round += 1) {
        await wait(100 * (round % 4))
        stream.close()
        await until(() => stream.end !== undefined)
        heard.push(...idsOf(stream))
        stream = await open(t, caller, stream.lastEventId)
      }
      isOver = true
      const made = (await Promise.all(pouring)).flat()
      await sealing
      await seal(service.db)
      await until(() => heard.length + stream.told.length >= made.length)
      heard.push(...idsOf(stream))
      assert.deepEqual(heard.toSorted(), made.toSorted())
      const whole = await open(t, await newViewer(), start)
      await whole.hears(made.length)
      assert.deepEqual(idsOf(whole), heard)
    })

    it('waits for a caller who does not read, and holds no events for them', async (t) => {
      const stream = await open(t, await newViewer())
      stream.response.pause()
      await addEvents(service, 3_000)
      const [last] = await create(1)
      await wait(1_000)
      stream.response.resume()
      const told = await stream.hears(3_001)
      assert.equal(told.at(-1)?.id, last)
      const sequences = told.map(({ sequence }) => sequence)
      assert.deepEqual(
        sequences,
        [...new Set(sequences)].toSorted((a, b) => a - b),
      )
    })

    it('answers HEAD with the headers alone', async () => {
      const { status, headers, text } = await admin.send('HEAD', '/v1/orders/events')
      assert.equal(status, 200)
      assert.equal(headers.get('content-type'), 'text/event-stream; charset=utf-8')
      assert.equal(text, '')
    })
  })

  it('allows each caller four streams, by whatever credential; an abandoned one makes room', async (t) => {
    const user = await newUser(service, { roles: ['Viewer'] })
    const browser = await signIn(service, user)
    const bearer = await bearerOf(service, user)
    const connected = once(service.app.server, 'connection')
    const closed = await open(t, bearer)
    const [connection] = await connected
    closed.close()
    await once(connection, 'close')
    const streams = [
      await open(t, browser),
      await open(t, bearer),
      await open(t, browser),
      await open(t, bearer),
    ]
    const refused = await bearer.get('/v1/orders/events')
    assert.equal(refused.status, 429)
    assert.equal(refused.body.code, 'too-many-streams')
    assert.ok(Number(refused.headers.get('retry-after')) > 0)
    assert.equal((await bearer.send('HEAD', '/v1/orders/events')).status, 200)
    await open(t, await newViewer())
    streams[0]?.close()
    await until(async () => (await openStream(bearer)).response.statusCode === 200)
  })

  /** A stream checks its caller every 15 seconds. The tests run at once, so that they wait only once. */
  describe('continues as long as its caller would be admitted', { concurrency: true }, () => {
    it('with a comment every 15 s, which states its place', async (t) => {
      const stream = await open(t, await newViewer())
      const begun = stream.lastEventId
      await newUser(service)
      await seal(service.db)
      await until(() => stream.comments > 0)
      assert.equal(stream.end, undefined)
      assert.ok(isBefore(readPlace(begun), readPlace(stream.lastEventId)))
      assert.equal(stream.comments, 1)
    })

    it('even when the database is away', async (t) => {
      const own = await startService({ inside: true, until: t })
      const stream = await open(t, await signIn(own, await newUser(own, { roles: ['Viewer'] })))
      await own.db.close()
      await until(() => stream.comments > 0 || stream.end !== undefined)
      assert.equal(stream.end, undefined)
    })

    it('even when the session has another id by then', async (t) => {
      const browser = await signIn(service, await newUser(service, { roles: ['Viewer'] }))
      const stream = await open(t, browser)
      assert.equal((await browser.post('/v1/auth/session/refresh')).status, 200)
      await until(() => stream.comments > 0)
      assert.equal(stream.end, undefined)
    })

    it('and ends with the session', async (t) => {
      const browser = await signIn(service, await newUser(service, { roles: ['Viewer'] }))
      const stream = await open(t, browser)
      assert.equal((await browser.post('/v1/auth/session/logout')).status, 204)
      assert.equal(await stream.ends(), 'whole')
    })

    for (const [what, take] of [
      ['the account is disabled', (user: TestUser) => setEnabled(service, user, false)],
      ['the permission is taken away', (user: TestUser) => revokeRoles(service, user, ['Viewer'])],
    ] as const) {
      it(`and ends when ${what}`, async (t) => {
        const user = await newUser(service, { roles: ['Viewer'] })
        const stream = await open(t, await signIn(service, user))
        await take(user)
        assert.equal(await stream.ends(), 'whole')
      })
    }

    it('but does not count as use of a session: it ends once the session is unused for 30 minutes, or the token expires', async (t) => {
      const own = await startService({ inside: true, until: t })
      const browser = await signIn(own, await newUser(own, { roles: ['Viewer'] }))
      const idleExpiry = async () =>
        (await browser.get('/v1/auth/me', { background: '?1' })).headers.get('session-idle-expires')
      const before = await idleExpiry()
      own.advance(5 * 60_000)
      const stream = await open(t, browser)
      assert.equal(stream.response.headers['session-idle-expires'], before)
      assert.equal(await idleExpiry(), before)
      const byToken = await open(t, await newCaller(own, ['Viewer']))
      own.advance(25 * 60_000)
      assert.equal(await byToken.ends(), 'whole')
      assert.equal(await stream.ends(), 'whole')
      assert.equal((await browser.get('/v1/auth/me')).status, 401)
    })
  })
})
