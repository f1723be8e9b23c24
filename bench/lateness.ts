import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Load, type LoadResult } from './load.ts'
import { machineFacts, print, printColumns, short, writeResult } from './report.ts'
import type { Requests } from './requests.ts'
import { prepareWorkplace, type Site, sqliteSite, startService } from './site.ts'
import type { Lateness } from './usage.ts'

/**
 * How late the event loop is while one client sends the most expensive requests allowed, one after another.
 * The first line is an idle loop: what the machine adds by itself. On a busy machine the main thread's
 * processor time for a request says more: a request cannot hold the loop for longer.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    orders: { type: 'string', default: '1000000' },
    label: { type: 'string', default: 'lateness' },
  },
})
const orders = Number(values.orders)
const milliseconds = Number(values.seconds) * 1000
if (!(milliseconds > 0) || !(orders > 0)) throw new Error('node bench/lateness.ts [--seconds N] [--orders N]')

interface Line extends Lateness {
  name: string
  requests: number
  /** Milliseconds of the main thread's processor time for a request. */
  held: number
  /** The longest that the client waited. */
  slowest: number
  failures: Record<string, number>
}

const workplace = prepareWorkplace()
const stops: (() => unknown)[] = [workplace.remove]
const lines: Line[] = []
try {
  await measure()
} finally {
  for (const stop of stops.toReversed()) await stop()
}
print(`\nHow late the event loop is, in milliseconds, ${orders.toLocaleString('en-US')} orders\n`)
printColumns([
  ['', 'held', 'p50', 'p99', 'p99.9', 'max', 'requests', 'slowest'],
  ...lines.map(({ name, held, p50, p99, p999, max, requests, slowest }) => [
    name,
    ...[held, p50, p99, p999, max, requests, slowest].map(short),
  ]),
])
print(`written to ${writeResult(values.label, { machine: machineFacts(), orders, lines })}`)

async function measure(): Promise<void> {
  const site = await sqliteSite(workplace, orders, 'lateness')
  stops.push(() => site.close())
  const service = await startService(site)
  stops.push(() => service.stop())
  const load = new Load()
  stops.push(() => load.end())
  await service.watch()
  await delay(milliseconds)
  const { lateness } = await service.usage()
  if (lateness !== undefined) add('nothing', lateness)
  for (const [name, requests, expected] of expensive(site)) {
    const order = { port: service.port, requests, expected, connections: 1, pauseMilliseconds: 0 }
    // The first run only warms up the compilers.
    for (const time of [300, milliseconds]) {
      const before = await service.usage()
      const run = `${process.pid}-${name}-${time}`.replaceAll(/[^\w-]/g, '')
      const result = await load.run({ ...order, run, warmUpMilliseconds: 0, milliseconds: time })
      const { lateness, mainThreadMicroseconds } = await service.usage()
      const held = (mainThreadMicroseconds - before.mainThreadMicroseconds) / 1000 / Math.max(1, result.all)
      if (time === milliseconds && lateness !== undefined) add(name, lateness, held, result)
    }
  }
}

function add(name: string, lateness: Lateness, held = 0, result?: LoadResult): void {
  const { all = 0, max = 0, failures = {} } = result ?? {}
  lines.push({ name, ...lateness, held, requests: all, slowest: max, failures })
  if (Object.keys(failures).length > 0) process.stderr.write(`${name}: ${JSON.stringify(failures)}\n`)
}

function expensive({ callers, paths }: Site): [string, Requests, number][] {
  const get = (...requested: string[]): Requests => ({
    kind: 'get',
    paths: requested,
    headers: callers.bearers,
  })
  const list = (query: Record<string, string>) => get(`/v1/orders?${new URLSearchParams(query)}`)
  const post = (body: unknown): Requests => ({
    kind: 'post',
    path: '/v1/orders',
    headers: callers.bearers,
    bodies: [JSON.stringify(body)],
    idempotent: true,
  })
  const words = Array.from({ length: 25 }, (_, index) => `customer!=word${index}*`)
  const sorts = Object.values(paths.firstPages).map((path) => path.replace(/pageSize=\d+/, 'pageSize=100'))
  const lastPage = Math.ceil(orders / 100)
  const lastPages = sorts.map((path) => `${path}&pageNumber=${lastPage}`)
  const long = { customer: 'x'.repeat(200), total: 1, ignored: Array(30_000).fill(1) }
  return [
    ['GET one', get(...paths.orders), 200],
    ['list of 100, first page, any sort', get(...sorts), 200],
    ['list of 100, last page, any sort', get(...lastPages), 200],
    ['list of 100 in the middle', list({ pageSize: '100', pageNumber: String(orders / 200) }), 200],
    ['list, text filter 1 %', get(...paths.textFilter), 200],
    ['list, 25 restrictions that nothing finds by index', list({ filter: words.join(' ') }), 200],
    ['list, a negated text of two letters', list({ filter: '-xq', orderBy: 'total' }), 200],
    ['some thousands of matches as one page', get(onePage(paths.dateRange[1] ?? '')), 200],
    ['summary', get('/v1/orders/summary'), 200],
    ['POST', post({ customer: 'Acme', total: 1 }), 201],
    ['POST, 60 KB of body', post(long), 201],
  ]
}

/** Reduces a list to its pending orders, in one page. */
function onePage(path: string): string {
  const url = new URL(path, 'http://localhost')
  url.searchParams.set('filter', `${url.searchParams.get('filter')} status=Pending`)
  url.searchParams.set('paginated', 'false')
  return `${url.pathname}${url.search}`
}
