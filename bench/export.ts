import { execFile } from 'node:child_process'
import { Agent, type ClientRequest, get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import { runSql } from '../test/support/postgres.ts'
import { sqliteCopy, startPostgres } from './data.ts'
import { Load, type LoadResult } from './load.ts'
import { machineFacts, print, printColumns, short, writeResult } from './report.ts'
import { median } from './rounds.ts'
import { fileOf, type MeasuredServer } from './server.ts'
import { makeSite, prepareWorkplace, type Site, startService } from './site.ts'

/**
 * All orders as CSV in one go, on both engines: how fast, in how much memory, what other callers notice
 * (without and during an export, in turns), and how soon everything is released when the client breaks off.
 */
const { values } = parseArgs({
  options: {
    orders: { type: 'string', default: '1000000' },
    label: { type: 'string', default: 'export' },
  },
})
const orders = Number(values.orders)
const turns = 5
const readMilliseconds = 5_000
const sampleMilliseconds = 250
const brokenOffBytes = 5_000_000

const workplace = prepareWorkplace()
const stops: (() => unknown)[] = [workplace.remove]
const results: Record<string, Result> = {}
try {
  const file = await sqliteCopy(orders, join(workplace.folder, 'export.db'))
  const postgres = await startPostgres()
  stops.push(() => postgres.end())
  const copy = [fileOf('../server/main.ts'), 'copy', '--from', file, '--to', postgres.url]
  await promisify(execFile)(process.execPath, copy, { env: { PATH: process.env.PATH } })
  await runSql(postgres.url, 'vacuum analyze orders')
  for (const [engine, url] of Object.entries({ SQLite: file, PostgreSQL: postgres.url })) {
    results[engine] = await measure(await makeSite(workplace, url, orders))
  }
  report()
} finally {
  for (const stop of stops.toReversed()) await stop()
}

interface Result {
  rowsPerSecond: number
  bytes: number
  /** Processor time of the service for each row. */
  cpuMicroseconds: number
  /** The part that blocked the event loop. */
  mainThreadMicroseconds: number
  residentBytes: { before: number; most: number }
  others: { idle: LoadResult; beside: LoadResult }[]
  besideRowsPerSecond: number
  /** From the end of the client's connection until the same caller was let in again. */
  letGoMilliseconds: number
}

async function measure(site: Site): Promise<Result> {
  const service = await startService(site)
  const load = new Load()
  try {
    const bearer = (site.callers.bearers[0] ?? '').slice('authorization: '.length).trim()
    await read(load, service, site, 2_000)
    const before = await service.usage()
    const alone = await wholeExport(service, bearer)
    const after = await service.usage()
    const others: Result['others'] = []
    const busy: Awaited<ReturnType<typeof wholeExport>>[] = []
    for (let turn = 0; turn < turns; turn += 1) {
      const idle = await read(load, service, site, readMilliseconds)
      const [beside, exported] = await Promise.all([
        read(load, service, site, readMilliseconds),
        wholeExport(service, bearer),
      ])
      others.push({ idle, beside })
      busy.push(exported)
    }
    return {
      rowsPerSecond: alone.rows / (alone.milliseconds / 1_000),
      bytes: alone.bytes,
      cpuMicroseconds: (after.cpuMicroseconds - before.cpuMicroseconds) / alone.rows,
      mainThreadMicroseconds: (after.mainThreadMicroseconds - before.mainThreadMicroseconds) / alone.rows,
      residentBytes: {
        before: before.residentBytes,
        most: Math.max(...[alone, ...busy].map(({ resident }) => resident)),
      },
      others,
      besideRowsPerSecond: median(busy.map(({ rows, milliseconds }) => rows / (milliseconds / 1_000))),
      letGoMilliseconds: await breakOff(service, bearer),
    }
  } finally {
    await load.end()
    await service.stop()
    await site.close()
  }
}

function read(load: Load, service: MeasuredServer, site: Site, time: number): Promise<LoadResult> {
  const requests = { kind: 'get', paths: site.paths.orders, headers: site.callers.bearers } as const
  const pace = { connections: 8, pauseMilliseconds: 4, warmUpMilliseconds: 200, milliseconds: time }
  return load.run({ port: service.port, requests, ...pace, expected: 200, run: `${process.pid}-${time}` })
}

function ask(
  service: MeasuredServer,
  authorization: string,
): Promise<{ request: ClientRequest; answer: IncomingMessage }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization, accept: 'text/csv' }
    const agent = new Agent()
    const request = get({ port: service.port, path: '/v1/orders', headers, agent }, (answer) =>
      resolve({ request, answer }),
    )
    request.once('error', reject)
  })
}

async function wholeExport(service: MeasuredServer, bearer: string) {
  let [rows, bytes, resident] = [-1, 0, 0]
  const begun = performance.now()
  const sampling = setInterval(async () => {
    resident = Math.max(resident, (await service.usage()).residentBytes)
  }, sampleMilliseconds)
  const { answer } = await ask(service, bearer)
  if (answer.statusCode !== 200) throw new Error(`an export got ${answer.statusCode}`)
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) rows += 1
  }
  clearInterval(sampling)
  if (rows !== orders) throw new Error(`${rows} orders instead of ${orders}`)
  return { rows, bytes, resident, milliseconds: performance.now() - begun }
}

async function breakOff(service: MeasuredServer, bearer: string): Promise<number> {
  const { request, answer } = await ask(service, bearer)
  request.on('error', () => undefined)
  let bytes = 0
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > brokenOffBytes) break
    }
  } finally {
    request.destroy()
  }
  const begun = performance.now()
  for (;;) {
    const next = await ask(service, bearer)
    next.request.on('error', () => undefined)
    next.request.destroy()
    if (next.answer.statusCode === 200) return performance.now() - begun
    await delay(5)
  }
}

function report(): void {
  print(`\n${orders.toLocaleString('en-US')} orders as CSV\n`)
  printColumns([
    ['', 'rows a second', 'CPU µs a row', 'of them the main thread', 'memory before', 'most', 'let go after'],
    ...Object.entries(results).map(([engine, result]) => [
      engine,
      short(result.rowsPerSecond),
      short(result.cpuMicroseconds),
      short(result.mainThreadMicroseconds),
      `${short(result.residentBytes.before / 1e6)} MB`,
      `${short(result.residentBytes.most / 1e6)} MB`,
      `${short(result.letGoMilliseconds)} ms`,
    ]),
  ])
  print('')
  printColumns([
    [`GET one, medians of ${turns} turns`, 'a second', 'p50', 'p99', 'greatest', 'p99 to idle'],
    ...Object.entries(results).flatMap(([engine, { others, besideRowsPerSecond }]) =>
      (['idle', 'beside'] as const).map((when) => {
        const of = (figure: 'rate' | 'p50' | 'p99') => short(median(others.map((turn) => turn[when][figure])))
        const greatest = short(Math.max(...others.map((turn) => turn[when].max)))
        const ratios = others.map((turn) => turn[when].p99 / turn.idle.p99)
        return [
          `${engine}, ${when === 'idle' ? 'idle' : `during an export of ${short(besideRowsPerSecond)} a second`}`,
          ...[of('rate'), of('p50'), of('p99'), greatest],
          `${short(median(ratios))} (${short(Math.min(...ratios))} to ${short(Math.max(...ratios))})`,
        ]
      }),
    ),
  ])
  print(`written to ${writeResult(values.label, { machine: machineFacts(), orders, results })}`)
}
