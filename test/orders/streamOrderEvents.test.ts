import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { KyselyPlugin } from '#kysely'
import { machineStamp } from '../../server/audit/audit.ts'
import { LiveOrders } from '../../server/orders/live/live.ts'
import { bearerOf, newCaller, newUser, signIn } from '../support/accounts.ts'
import type { Client } from '../support/client.ts'
import { addEvents, seal } from '../support/log.ts'
import { createdId } from '../support/orders.ts'
import { type InsideService, startService, testService } from '../support/service.ts'
import { openStream, type Stream, until } from '../support/stream.ts'

describe('streamOrderEvents', () => {
  const service = testService({ inside: true })
  let operator: Client
  let admin: Client
  before(async () => {
    operator = await service.bearer('operator')
    admin = await service.bearer('admin')
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
    it('tells what happens to orders from now on, thin, in the order of the log', async (t) => {
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

    it('reports nothing about accounts, and goes past it', async (t) => {
      const stream = await open(t, await newViewer())
      await newUser(service, { roles: ['Viewer'] })
      const [id] = await create(1)
      await stream.hears(1)
      assert.deepEqual(idsOf(stream), [id])
    })

    it('goes on after Last-Event-ID, for callers at different places', async (t) => {
      const first = await open(t, await newViewer())
      const ids = await create(6)
      const told = await first.hears(6)
      const places = [0, 2, 5].map((index) => String(told[index]?.sequence))
      const streams = await Promise.all(places.map(async (place) => open(t, await newViewer(), place)))
      const [last] = await create(1)
      for (const [index, stream] of streams.entries()) {
        const missed = ids.slice([1, 3, 6][index])
        await stream.hears(missed.length + 1)
        assert.deepEqual(idsOf(stream), [...missed, last])
      }
    })

    it('begins with its place, so that who has heard nothing yet can go on too', async (t) => {
      const silent = await open(t, await newViewer())
      silent.close()
      const [id] = await create(1)
      const stream = await open(t, await newViewer(), silent.lastEventId)
      await stream.hears(1)
      assert.deepEqual(idsOf(stream), [id])
    })

    it('begins now after an id that the log has not reached, or that is none', async (t) => {
      await create(1)
      for (const id of ['999999999999999', '9'.repeat(400), '-1', 'x', '1.5', '']) {
        const stream = await open(t, await newViewer(), id)
        const [made] = await create(1)
        await stream.hears(1)
        assert.deepEqual(idsOf(stream), [made], id)
        stream.close()
      }
    })

    it('loses and doubles nothing while events pour in and callers come and go', async (t) => {
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

  describe('is limited', () => {
    it('to four for a caller, whichever credential they show; one that was given up makes room', async (t) => {
      const user = await newUser(service, { roles: ['Viewer'] })
      const browser = await signIn(service, user)
      const bearer = await bearerOf(service, user)
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
  })

  /** A stream looks every 15 seconds, so they are all looked at in the same ones. */
  describe('goes on as long as its caller would be let in', { concurrency: true }, () => {
    it('with a comment every 15 s, which says where it is', async (t) => {
      const stream = await open(t, await newViewer())
      await until(() => stream.comments > 0)
      assert.equal(stream.end, undefined)
      assert.match(stream.lastEventId, /^\d+$/)
      assert.equal(stream.comments, 1)
    })

    it('when the session has another id by then', async (t) => {
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

    it('and ends when the account is disabled', async (t) => {
      const user = await newUser(service, { roles: ['Viewer'] })
      const stream = await open(t, await signIn(service, user))
      const stamp = machineStamp(service.now())
      await service.db.write('setAccountEnabled', { account: user.account, enabled: false, stamp })
      assert.equal(await stream.ends(), 'whole')
    })

    it('and ends when the permission is taken away', async (t) => {
      const user = await newUser(service, { roles: ['Viewer'] })
      const stream = await open(t, await signIn(service, user))
      const change = { account: user.account, roles: ['Viewer'], stamp: machineStamp(service.now()) }
      await service.db.write('revokeRoles', change)
      assert.equal(await stream.ends(), 'whole')
    })

    it('but is no use of a session: it opens without prolonging it, and ends when that was not used for 30 minutes, or a token has expired', async (t) => {
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

describe('the streams of an instance', () => {
  let service: InsideService
  before(async () => {
    service = await startService({ inside: true })
  })

  it('begin with the first event of all, also the first stream', async () => {
    await createdId(await service.bearer('operator'))
    await seal(service.db)
    const live = new LiveOrders(service.db)
    const { size } = await service.db.read.selectFrom('log_head').select('size').executeTakeFirstOrThrow()
    const place = await live.begin(0)
    const { from, reached } = await live.after(place, 1_000, new AbortController().signal)
    assert.deepEqual([place, from, reached], [0, 0, size])
  })

  it('let others be served before each batch, however far behind their caller is', async () => {
    const live = new LiveOrders(service.db)
    const place = await live.begin(0)
    let isServed = false
    setImmediate(() => {
      isServed = true
    })
    await live.after(place, 1_000, new AbortController().signal)
    assert.ok(isServed)
  })

  it('ask for the head of the log once for all, only while somebody listens, and again after a failure', async () => {
    let queries = 0
    let isAway = false
    const counting: KyselyPlugin = {
      transformQuery({ node }) {
        queries += 1
        if (isAway) throw new Error('the database is away')
        return node
      },
      transformResult: async ({ result }) => result,
    }
    const live = new LiveOrders({ ...service.db, read: service.db.read.withPlugin(counting) })
    await wait(400)
    assert.equal(queries, 0)

    const place = await live.begin(null)
    const listening = Array.from({ length: 50 }, () => new AbortController())
    const heard = listening.map(({ signal }) => live.after(place, 60_000, signal))
    queries = 0
    const listened = performance.now()
    await wait(1_000)
    const looks = (performance.now() - listened) / 300
    assert.ok(queries >= 2 && queries <= looks + 1, `${queries} in the time of ${looks}`)

    isAway = true
    await wait(700)
    const id = await createdId(await service.bearer('operator'))
    await seal(service.db)
    isAway = false
    const portions = await Promise.all(heard)
    assert.equal(new Set(portions).size, 1)
    assert.match(String(portions[0]?.bytes), new RegExp(id))

    const left = new AbortController()
    const nothing = live.after(portions[0]?.reached ?? 0, 60_000, left.signal)
    await wait(400)
    left.abort()
    assert.equal((await nothing).bytes.length, 0)
    await wait(400)
    queries = 0
    await wait(1_000)
    assert.equal(queries, 0)
  })

  it('end when it closes, and keep it from closing no longer', async () => {
    const stream = await openStream(await service.bearer('viewer'))
    const start = performance.now()
    await service.close()
    assert.equal(await stream.ends(), 'whole')
    assert.ok(performance.now() - start < 5_000)
  })
})
