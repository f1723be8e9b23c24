// engine: both
import assert from 'node:assert/strict'
import { get } from 'node:http'
import { before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { LogLine } from '../../proof/line.ts'
import { verifyLog } from '../../proof/log.ts'
import { recordEvent } from '../../server/audit/audit.ts'
import { machineStamp } from '../../server/caller/stamp.ts'
import { newOrderedId } from '../../server/ids.ts'
import { bearerOf, newCaller, newUser, signIn } from '../support/accounts.ts'
import type { Client } from '../support/client.ts'
import { withRawDatabase } from '../support/database.ts'
import { addEvents, inPortions, seal } from '../support/log.ts'
import { setUp, testService } from '../support/service.ts'
import { until } from '../support/stream.ts'

const jsonl = { accept: 'application/jsonl' }
/** At 4 KB each, about three times what the buffers of a connection hold if nobody reads the export. */
const count = 3_000

describe('listLog', () => {
  const service = testService()
  const admin = setUp(() => service.bearer('admin'))
  let size: number
  before(async () => {
    await addEvents(service, count)
    size = (await admin.get('/v1/log')).body.totalCount
  })

  const sequencesOf = async (query: string) => {
    const { status, body } = await admin.get(`/v1/log?${query}`)
    assert.equal(status, 200)
    return body.items.map(({ sequence }: LogLine) => sequence)
  }
  const linesOf = (text: string): LogLine[] =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))

  describe('as pages', () => {
    it('begins with the first event, has ten a page, and gives the total', async () => {
      const { body, headers } = await admin.get('/v1/log')
      const sequences = body.items.map(({ sequence }: LogLine) => sequence)
      assert.deepEqual(sequences, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
      const { items, ...page } = body
      assert.ok(size >= count)
      assert.deepEqual(page, {
        pageNumber: 1,
        totalPages: Math.ceil(size / 10),
        totalCount: size,
        hasPreviousPage: false,
        hasNextPage: true,
      })
      assert.match(headers.get('link') ?? '', /<\/v1\/log\?pageNumber=2>; rel="next"/)
      assert.match(headers.get('vary') ?? '', /Accept/)
    })

    it('continues after a sequence, in either direction', async () => {
      assert.deepEqual(await sequencesOf('after=20&pageSize=3'), [21, 22, 23])
      assert.deepEqual(await sequencesOf('after=20&pageSize=3&pageNumber=2'), [24, 25, 26])
      assert.deepEqual(await sequencesOf('pageSize=2&order=Desc'), [size, size - 1])
      assert.deepEqual(await sequencesOf(`after=${size - 3}&pageSize=2&pageNumber=2&order=Desc`), [size - 2])
      assert.deepEqual(await sequencesOf(`after=${size - 1}&order=desc`), [size])
    })

    it('is empty past the end', async () => {
      for (const query of [`after=${size}`, 'after=999999999999999', 'pageNumber=2147483647']) {
        assert.deepEqual(await sequencesOf(query), [])
        assert.deepEqual(await sequencesOf(`${query}&order=Desc`), [])
      }
      assert.equal((await admin.get(`/v1/log?after=${size}`)).body.totalPages, 0)
    })

    it('refuses an invalid sequence', async () => {
      for (const text of ['-1', '1.5', 'x', '01', '1e3', '9999999999999999', '%201']) {
        const { status, body } = await admin.get(`/v1/log?after=${text}`)
        assert.equal(status, 400, text)
        assert.equal(body.errors[0].parameter, 'after')
      }
    })

    it('shows an event as the export does', async () => {
      const { body } = await admin.get(`/v1/log?after=${size - 1}`)
      const { text } = await admin.get(`/v1/log?after=${size - 1}`, jsonl)
      assert.deepEqual(body.items, [JSON.parse(text)])
    })
  })

  describe('as an export', () => {
    it('has every event without a gap, and agrees with the checkpoint', async () => {
      const { status, text, headers } = await admin.get('/v1/log?pageSize=2&pageNumber=7', jsonl)
      assert.equal(status, 200)
      assert.equal(headers.get('content-type'), 'application/jsonl; charset=utf-8')
      assert.equal(headers.get('content-disposition'), 'attachment; filename="log.jsonl"')
      assert.match(headers.get('vary') ?? '', /Accept/)
      assert.equal(headers.get('cache-control'), 'no-store')
      const report = await verifyLog(inPortions(Buffer.from(text)))
      assert.equal(report.fault, null)
      assert.equal(report.head.size, size)
    })

    it('begins after a sequence', async () => {
      const { text } = await admin.get(`/v1/log?after=${size - 2}`, jsonl)
      assert.deepEqual(
        linesOf(text).map(({ sequence }) => sequence),
        [size - 1, size],
      )
      assert.equal((await admin.get(`/v1/log?after=${size}`, jsonl)).text, '')
    })

    it('is sent if Accept prefers it to JSON, and not otherwise', async () => {
      const typeOf = async (accept: string) =>
        (await admin.get(`/v1/log?after=${size - 1}`, { accept })).headers.get('content-type')?.split(';')[0]
      const cases: Record<string, string> = {
        'application/jsonl': 'application/jsonl',
        'APPLICATION/JSONL; q=0.5': 'application/jsonl',
        'application/jsonl, */*;q=0.1': 'application/jsonl',
        'application/json;q=0.5, application/jsonl': 'application/jsonl',
        'application/json, application/jsonl;q=0.5': 'application/json',
        'application/jsonl;q=0': 'application/json',
        'application/jsonl;q=x': 'application/json',
        'text/csv': 'application/json',
        '*/*': 'application/json',
        '': 'application/json',
      }
      for (const [accept, type] of Object.entries(cases)) assert.equal(await typeOf(accept), type, accept)
    })

    it('answers HEAD without reading the log', async () => {
      const { status, headers, text } = await admin.send('HEAD', '/v1/log', undefined, jsonl)
      assert.equal(status, 200)
      assert.equal(headers.get('content-type'), 'application/jsonl; charset=utf-8')
      assert.equal(headers.get('content-length'), null)
      assert.equal(text, '')
    })
  })

  describe('with a filter', () => {
    const minute = 60_000
    const first = '019a0000-0000-7000-8000-0000000000a1'
    const second = '019a0000-0000-7000-8000-0000000000a2'
    // In the order of the log, not of their times.
    const told = [
      { kind: 'created', subject: { kind: 'order', id: first }, by: 'ann', minutes: 0 },
      { kind: 'created', subject: { kind: 'order', id: second }, by: 'bea', minutes: 2 },
      { kind: 'approved', subject: { kind: 'order', id: first }, by: 'bea', minutes: 1 },
      { kind: 'role-added', subject: { kind: 'role', id: first }, by: 'machine:DOMAIN\\jörg m', minutes: 3 },
      { kind: 'noted', subject: { kind: 'order', id: first }, by: 'ann', minutes: 4 },
    ] as const
    const startsAt = Date.UTC(2031, 4, 1)
    const at = (minutes: number) => new Date(startsAt + minutes * minute).toISOString()
    let base: number
    before(async () => {
      base = (await admin.get('/v1/log')).body.totalCount
      await withRawDatabase(service.databaseUrl, async (raw) => {
        for (const { by, minutes, ...event } of told) {
          const nowMilliseconds = startsAt + minutes * minute
          const eventId = newOrderedId(nowMilliseconds)
          const stamp = { eventId, seed: '00'.repeat(16), nowMilliseconds, timeZone: null, by, byId: null }
          await recordEvent(raw, stamp, { ...event, facts: {} })
        }
      })
      await seal(service.db)
    })
    /** Indexes of the events found, newest first. */
    const found = async (query: Record<string, string | number>) => {
      const parameters = new URLSearchParams({ order: 'Desc', from: at(0), ...query })
      return (await sequencesOf(String(parameters))).map((sequence: number) => sequence - base - 1)
    }

    it('finds what happened to one subject, by kind and id', async () => {
      assert.deepEqual(await found({ subject: `order:${first}` }), [4, 2, 0])
      assert.deepEqual(await found({ subject: `role:${first}` }), [3])
      assert.deepEqual(await found({ subject: 'order:*' }), [])
    })

    it('finds a kind', async () => {
      assert.deepEqual(await found({ kind: 'created' }), [1, 0])
      assert.deepEqual(await found({ kind: 'never-happened' }), [])
    })

    it('finds what was done under exactly this name, of a user or a machine', async () => {
      assert.deepEqual(await found({ by: 'bea' }), [2, 1])
      assert.deepEqual(await found({ by: 'machine:DOMAIN\\jörg m' }), [3])
      assert.deepEqual(await found({ by: 'Bea' }), [])
    })

    it('finds a span of time, including its start but not its end, ordered by sequence', async () => {
      assert.deepEqual(await found({ from: at(1), until: at(4) }), [3, 2, 1])
      assert.deepEqual(await found({ from: at(4), until: at(4) }), [])
      assert.deepEqual(await found({ until: at(2), order: 'Asc' }), [0, 2])
    })

    it('combines all conditions', async () => {
      assert.deepEqual(await found({ kind: 'created', by: 'bea' }), [1])
      assert.deepEqual(await found({ kind: 'created', until: at(2) }), [0])
      assert.deepEqual(await found({ by: 'ann', kind: 'noted', from: at(1) }), [4])
      assert.deepEqual(await found({ subject: `order:${first}`, by: 'bea', kind: 'approved' }), [2])
    })

    it('counts and pages the matches, even after a given sequence', async () => {
      const { body } = await admin.get(`/v1/log?by=ann&from=${at(0)}&pageSize=1&pageNumber=2`)
      const { items, ...page } = body
      const kinds = items.map(({ kind }: LogLine) => kind)
      assert.deepEqual(kinds, ['noted'])
      assert.deepEqual(page, {
        pageNumber: 2,
        totalPages: 2,
        totalCount: 2,
        hasPreviousPage: true,
        hasNextPage: false,
      })
      assert.deepEqual(await found({ by: 'ann', after: base + 1 }), [4])
      assert.deepEqual(await found({ by: 'ann', pageNumber: 2_147_483_647 }), [])
    })

    it('repeats the filter in its links', async () => {
      const { headers } = await admin.get('/v1/log?kind=created&by=bea&pageSize=1')
      assert.match(headers.get('link') ?? '', /\/v1\/log\?pageNumber=1&kind=created&by=bea&pageSize=1/)
    })

    it('refuses an invalid filter', async () => {
      const wrong: [string, string][] = [
        ['subject', 'order'],
        ['subject', ':3'],
        ['subject', 'account:'],
        ['subject', 'order:a%00'],
        ['kind', 'Approved'],
        ['kind', '-'],
        ['by', 'a%00b'],
        ['by', 'x'.repeat(201)],
        ['from', '2026-11-01'],
        ['from', '2026-02-30T00:00:00Z'],
        ['until', '2026-11-01T00:00:00%2B01:00'],
      ]
      for (const [parameter, value] of wrong) {
        const { status, body } = await admin.get(`/v1/log?${parameter}=${value}`)
        assert.equal(status, 400, `${parameter}=${value}`)
        assert.equal(body.errors[0].parameter, parameter)
      }
    })

    it('is refused for an export, which could then not be verified', async () => {
      const { status, body } = await admin.get('/v1/log?kind=created&by=ann', jsonl)
      assert.equal(status, 400)
      assert.equal(body.code, 'validation-failed')
      assert.deepEqual(
        body.errors.map(({ parameter }: { parameter: string }) => parameter),
        ['kind', 'by'],
      )
      assert.equal((await admin.get(`/v1/log?after=${size}&kind=`, jsonl)).status, 200)
    })
  })

  /**
   * Begins an export without reading it. `rest` resolves to how many bytes came, or to the code of the error.
   */
  async function beginExport(headers: Record<string, string>) {
    const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
      get(`${service.baseUrl}/v1/log`, { headers: { ...headers, ...jsonl }, agent: false }, resolve).on(
        'error',
        reject,
      )
    })
    response.pause()
    const rest = async () => {
      let bytes = 0
      try {
        for await (const portion of response) bytes += portion.length
        return bytes
      } catch (error) {
        return String((error as NodeJS.ErrnoException).code)
      }
    }
    return { status: response.statusCode, rest, end: () => response.destroy() }
  }
  const cookieOf = ({ cookies }: Client) => ({
    cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
  })

  describe('as an export, one at a time for each caller', () => {
    it('refuses a second one while the first is being read, and allows it afterwards', async () => {
      const caller = await newCaller(service, ['Admin'])
      const first = await beginExport(caller.headers)
      assert.equal(first.status, 200)
      const second = await caller.get('/v1/log', jsonl)
      assert.equal(second.status, 409)
      assert.equal(second.body.code, 'export-running')
      assert.ok(Number(second.headers.get('retry-after')) > 0)
      assert.equal((await caller.get('/v1/log')).status, 200)
      assert.equal((await admin.get(`/v1/log?after=${size}`, jsonl)).status, 200)
      assert.ok(Number(await first.rest()) > count * 300)
      assert.equal((await caller.get(`/v1/log?after=${size}`, jsonl)).status, 200)
    })

    it('allows another after one was abandoned', async () => {
      const caller = await newCaller(service, ['Admin'])
      const first = await beginExport(caller.headers)
      first.end()
      await until(async () => (await caller.get(`/v1/log?after=${size}`, jsonl)).status === 200)
    })
  })

  /**
   * An export checks its caller every three seconds. The tests run in parallel, so that they wait only
   * once.
   */
  describe('as a long export', { concurrency: true }, () => {
    it('breaks off when its session ends, so that it cannot be taken for a complete one', async () => {
      const browser = await signIn(service, await newUser(service, { roles: ['Admin'] }))
      const running = await beginExport(cookieOf(browser))
      assert.equal(running.status, 200)
      assert.equal((await browser.post('/v1/auth/session/logout')).status, 204)
      await wait(3_100)
      assert.equal(await running.rest(), 'ECONNRESET')
    })

    it('ends within five minutes after its access token stops working, like every other request', async () => {
      const user = await newUser(service, { roles: ['Admin'] })
      const running = await beginExport((await bearerOf(service, user)).headers)
      const { account } = user
      const stamp = machineStamp(service.now())
      await service.db.write('setAccountEnabled', { account, enabled: false, stamp })
      service.advance(301_000)
      await wait(3_100)
      assert.equal(await running.rest(), 'ECONNRESET')
    })

    it('continues when its session gets another id', async () => {
      const browser = await signIn(service, await newUser(service, { roles: ['Admin'] }))
      const running = await beginExport(cookieOf(browser))
      assert.equal((await browser.post('/v1/auth/session/refresh')).status, 200)
      service.advance(40_000)
      await wait(3_100)
      assert.ok(Number(await running.rest()) > count * 300)
    })

    it('ends when the roles of its caller no longer allow it', async () => {
      const user = await newUser(service, { roles: ['Admin'] })
      const browser = await signIn(service, user)
      const running = await beginExport(cookieOf(browser))
      const { account } = user
      await service.db.write('revokeRoles', { account, roles: ['Admin'], stamp: machineStamp(service.now()) })
      await wait(3_100)
      assert.equal(await running.rest(), 'ECONNRESET')
    })
  })

  it('shows no event before it is sealed', async () => {
    const { body } = await (await service.bearer('operator')).post('/v1/orders', {
      customer: 'Acme',
      total: 1,
    })
    await seal(service.db)
    const { body: page } = await admin.get('/v1/log?order=Desc&pageSize=1')
    assert.partialDeepStrictEqual(page.items[0], {
      kind: 'created',
      subject: { kind: 'order', id: body.id },
      version: 1,
      data: { total: '1' },
      clear: { by: { value: 'operator' }, customer: { value: 'Acme' } },
    })
  })
})
