import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import Sqlite from 'better-sqlite3'
import { Load, type LoadOrder, type LoadResult } from './load.ts'
import { machineFacts, print, printColumns, short, writeResult } from './report.ts'
import type { Requests } from './requests.ts'
import { median } from './rounds.ts'
import { postOrders } from './scenarios.ts'
import type { MeasuredServer } from './server.ts'
import { prepareWorkplace, type Site, sqliteSite, startService } from './site.ts'
import type { Usage } from './usage.ts'

/**
 * Mixed traffic of many users for minutes: do memory and the tables that the service cleans up stay flat?
 * Sessions and families of refresh tokens live two minutes here, so that a run sees them go.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    orders: { type: 'string', default: '100000' },
    label: { type: 'string', default: 'soak' },
  },
})
const minutes = Number(values.minutes)
const orders = Number(values.orders)
if (!(minutes > 0) || !(orders > 0)) throw new Error('npm run bench:soak -- [--minutes N] [--orders N]')

/** Each slice makes new connections, and ends in a line of the table. */
const sliceSeconds = Math.min(20, minutes * 20)
const lives = {
  SESSION_IDLE_TTL_SECONDS: '120',
  SESSION_ABSOLUTE_TTL_SECONDS: '120',
  REFRESH_TOKEN_IDLE_TTL_SECONDS: '120',
  REFRESH_TOKEN_FAMILY_TTL_SECONDS: '120',
}
const tables = [
  'sessions',
  'session_ids',
  'refresh_families',
  'login_failures',
  'known_addresses',
  'idempotency_keys',
] as const
const strangersPerSlice = 200
const strangersOf = (slice: number) =>
  Array.from({ length: strangersPerSlice }, (_, index) =>
    JSON.stringify({
      email: `nobody-${slice}-${index}@example.com`,
      password: 'not the password of anybody',
    }),
  )

interface Traffic {
  name: string
  requests: Requests
  connections: number
  pauseMilliseconds: number
  expected: number
}

interface Sample extends Usage {
  minute: number
  answers: number
  failures: Record<string, number>
  getP99: number
  rows: Record<string, number>
}

const workplace = prepareWorkplace()
const stops: (() => unknown)[] = [workplace.remove]
const samples: Sample[] = []
try {
  const site = await sqliteSite(workplace, orders, 'soak')
  stops.push(() => site.close())
  const service = await startService({ ...site, env: { ...site.env, ...lives } })
  stops.push(() => service.stop())
  await soak(site, service)
} finally {
  for (const stop of stops.toReversed()) await stop()
}
report()

async function soak(site: Site, service: MeasuredServer): Promise<void> {
  const database = new Sqlite(site.databaseUrl.slice('file:'.length), { readonly: true })
  stops.push(() => database.close())
  await delay(1_000)
  const idle = await service.watch()
  samples.push({ ...idle, minute: 0, answers: 0, failures: {}, getP99: 0, rows: countRows(database) })
  const loads = (await traffic(site, 0)).map(() => new Load())
  stops.push(() => Promise.all(loads.map((load) => load.end())))
  const begunAt = performance.now()
  const minute = () => (performance.now() - begunAt) / 60_000
  for (let slice = 0; minute() < minutes; slice += 1) {
    const all = await traffic(site, slice)
    const results = await Promise.all(
      all.map((each, index) => (loads[index] as Load).run(orderOf(service, each, slice))),
    )
    const usage = await service.usage()
    samples.push({ ...usage, minute: minute(), ...summary(all, results), rows: countRows(database) })
    note(samples.at(-1))
  }
}

/** Paces that leave the machine some rest: a soak looks for growth, not for the limit. */
async function traffic({ callers, paths }: Site, slice: number): Promise<Traffic[]> {
  const get = (requested: string[], headers: string[]): Requests => ({
    kind: 'get',
    paths: requested,
    headers,
  })
  const post = (path: string, bodies: string[]): Requests => ({
    kind: 'post',
    path,
    headers: [''],
    bodies,
    idempotent: false,
  })
  const lists = [
    ...Object.values(paths.firstPages),
    ...Object.values(paths.lastPages),
    ...paths.textFilter,
    ...paths.statusFilter,
    ...paths.totalRange,
    ...paths.dateRange,
  ]
  const refreshTokens = await callers.makeRefreshTokens(4)
  const refreshes: Requests = { kind: 'refresh', path: '/v1/auth/token/refresh', refreshTokens }
  const line = (name: string, requests: Requests, pace: [number, number], expected = 200): Traffic => ({
    name,
    requests,
    connections: pace[0],
    pauseMilliseconds: pace[1],
    expected,
  })
  return [
    line('GET one', get(paths.orders, callers.bearers), [8, 4]),
    line('lists', get(lists, callers.bearers), [4, 20]),
    line('POST', postOrders({ callers }), [4, 10], 201),
    line('refresh', refreshes, [4, 40]),
    line('token', post('/v1/auth/token', callers.logins), [1, 100]),
    line('session', post('/v1/auth/session', callers.logins), [1, 100]),
    line('strangers', post('/v1/auth/session', strangersOf(slice)), [1, 500], 401),
  ]
}

function orderOf(service: MeasuredServer, { requests, ...pace }: Traffic, slice: number): LoadOrder {
  return {
    port: service.port,
    requests,
    ...pace,
    warmUpMilliseconds: 0,
    milliseconds: sliceSeconds * 1000,
    run: `${process.pid}-${slice}`,
  }
}

function summary(all: Traffic[], results: LoadResult[]): Pick<Sample, 'answers' | 'failures' | 'getP99'> {
  const failures: Record<string, number> = {}
  results.forEach((result, index) => {
    for (const [status, count] of Object.entries(result.failures)) {
      failures[`${all[index]?.name} ${status}`] = count
    }
  })
  const answers = results.reduce((sum, result) => sum + result.all, 0)
  return { answers, failures, getP99: results[0]?.p99 ?? Number.NaN }
}

function countRows(database: Sqlite.Database): Record<string, number> {
  const count = (table: string) => database.prepare(`select count(*) from ${table}`).pluck().get() as number
  return Object.fromEntries([...tables, 'orders'].map((table) => [table, count(table)]))
}

function note(sample: Sample | undefined): void {
  if (sample === undefined) return
  const { minute, residentBytes, answers, failures } = sample
  process.stderr.write(
    `minute ${short(minute)}: ${short(residentBytes / 1e6)} MB, ${short(answers)} answers ${JSON.stringify(failures)}\n`,
  )
}

function report(): void {
  const columns: [string, (sample: Sample) => number][] = [
    ['minute', ({ minute }) => minute],
    ['MB', ({ residentBytes }) => residentBytes / 1e6],
    ['heap used', ({ heapUsedBytes }) => heapUsedBytes / 1e6],
    ['buffers', ({ externalBytes }) => externalBytes / 1e6],
    ['answers', ({ answers }) => answers],
    ['GET p99', ({ getP99 }) => getP99],
    ['late p99', ({ lateness }) => lateness?.p99 ?? Number.NaN],
    ['late max', ({ lateness }) => lateness?.max ?? Number.NaN],
    ...tables.map((name): [string, (sample: Sample) => number] => [name, ({ rows }) => rows[name] ?? 0]),
  ]
  print(`\n${short(minutes)} minutes of mixed traffic, ${orders.toLocaleString('en-US')} orders at first\n`)
  printColumns([
    columns.map(([name]) => name),
    ...samples.map((sample) => columns.map(([, value]) => short(value(sample)))),
  ])
  const trend = { residentMegabytes: trendOf('residentBytes'), heapMegabytes: trendOf('heapUsedBytes') }
  const words = ([second, last]: [number, number]) => `${short(second)} MB, then ${short(last)} MB`
  print(
    `\nmedian of the second and of the last third: ${words(trend.residentMegabytes)}; ` +
      `of the heap ${words(trend.heapMegabytes)}`,
  )
  print(
    `written to ${writeResult(values.label, { machine: machineFacts(), minutes, orders, trend, samples })}`,
  )
}

/** The first third fills caches. */
function trendOf(key: 'residentBytes' | 'heapUsedBytes'): [number, number] {
  const third = Math.ceil(samples.length / 3)
  const of = (part: Sample[]) => median(part.map((sample) => sample[key])) / 1e6
  return [of(samples.slice(third, 2 * third)), of(samples.slice(2 * third))]
}
