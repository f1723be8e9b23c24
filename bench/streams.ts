import { Agent, get, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Load, type LoadResult } from './load.ts'
import { machineFacts, print, printColumns, short, writeResult } from './report.ts'
import type { MeasuredServer } from './server.ts'
import { prepareWorkplace, type Site, sqliteSite, startService } from './site.ts'

/**
 * Many callers listen to the live list of one instance, while others create and read orders: what a stream
 * costs in memory, how long an order takes from its 201 to each stream, and what the others notice.
 */
const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '8' },
    orders: { type: 'string', default: '100000' },
    label: { type: 'string', default: 'streams' },
  },
})
const [count, milliseconds, orders] = [values.streams, values.seconds, values.orders].map(Number) as [
  number,
  number,
  number,
]
const streamsOfCaller = 4
const tokensOfUser = 5
const betweenOrdersMilliseconds = 200

const workplace = prepareWorkplace()
const stops: (() => unknown)[] = [workplace.remove]
try {
  await measure(milliseconds * 1000)
} finally {
  for (const stop of stops.toReversed()) await stop()
}

async function measure(runMilliseconds: number): Promise<void> {
  const site = await sqliteSite(workplace, orders, 'streams', Math.ceil(count / streamsOfCaller))
  stops.push(() => site.close())
  const service = await startService(site)
  stops.push(() => service.stop())
  const load = new Load()
  stops.push(() => load.end())
  await read(load, service, site, 2_000)
  const alone = await read(load, service, site, runMilliseconds)
  const before = await service.usage()
  const agent = new Agent({ maxSockets: count })
  stops.push(() => agent.destroy())
  const listeners = await listen(service, site, agent)
  await delay(2_000)
  const after = await service.usage()
  const quiet = await read(load, service, site, runMilliseconds)
  const [busy] = await Promise.all([
    read(load, service, site, runMilliseconds),
    create(service, site, listeners, runMilliseconds - 2_000),
  ])
  const end = await service.usage()
  report(
    { alone, quiet, busy },
    listeners.times.toSorted((a, b) => a - b),
    {
      before: before.residentBytes,
      after: after.residentBytes,
      end: end.residentBytes,
    },
  )
}

function read(load: Load, service: MeasuredServer, site: Site, time: number): Promise<LoadResult> {
  const requests = { kind: 'get', paths: site.paths.orders, headers: site.callers.bearers } as const
  const pace = { connections: 8, pauseMilliseconds: 4, warmUpMilliseconds: 200, milliseconds: time }
  return load.run({ port: service.port, requests, ...pace, expected: 200, run: `${process.pid}-${time}` })
}

interface Listeners {
  /** When each order was answered. */
  answeredAt: Map<string, number>
  times: number[]
}

/** Each caller has four streams, by the first of its tokens. */
async function listen(service: MeasuredServer, { callers }: Site, agent: Agent): Promise<Listeners> {
  const listeners: Listeners = { answeredAt: new Map(), times: [] }
  for (let begun = 0; begun < count; begun += 100) {
    const some = Array.from({ length: Math.min(100, count - begun) }, (_, index) => begun + index)
    await Promise.all(
      some.map(async (number) => {
        const bearer = callers.bearers[Math.floor(number / streamsOfCaller) * tokensOfUser] ?? ''
        const stream = await open(service, bearer, agent)
        stream.setEncoding('utf8').on('data', (text: string) => hear(listeners, text))
      }),
    )
  }
  return listeners
}

function open(service: MeasuredServer, bearer: string, agent: Agent): Promise<IncomingMessage> {
  const authorization = bearer.slice('authorization: '.length).trim()
  return new Promise((resolve, reject) => {
    const options = { port: service.port, path: '/v1/orders/events', headers: { authorization }, agent }
    get(options, (answer) =>
      answer.statusCode === 200 ? resolve(answer) : reject(new Error(`a stream got ${answer.statusCode}`)),
    ).on('error', reject)
  })
}

function hear({ answeredAt, times }: Listeners, text: string): void {
  const now = performance.now()
  for (const [, id = ''] of text.matchAll(/"id":"([^"]+)"/g)) times.push(now - (answeredAt.get(id) ?? now))
}

async function create(
  service: MeasuredServer,
  { callers }: Site,
  { answeredAt }: Listeners,
  time: number,
): Promise<void> {
  const authorization = (callers.bearers[0] ?? '').slice('authorization: '.length).trim()
  const headers = { authorization, 'content-type': 'application/json' }
  const body = JSON.stringify({ customer: 'Acme', total: 1 })
  for (const end = performance.now() + time; performance.now() < end; ) {
    const answer = await fetch(`http://127.0.0.1:${service.port}/v1/orders`, {
      method: 'POST',
      headers,
      body,
    })
    const { id } = (await answer.json()) as { id: string }
    answeredAt.set(id, performance.now())
    await delay(betweenOrdersMilliseconds)
  }
}

function report(
  reads: Record<'alone' | 'quiet' | 'busy', LoadResult>,
  times: number[],
  resident: Record<'before' | 'after' | 'end', number>,
): void {
  const at = (part: number) =>
    times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? Number.NaN
  const delivery = { told: times.length, p50: at(0.5), p99: at(0.99), max: at(1) }
  const names = { alone: 'no streams', quiet: 'streams, nothing happens', busy: 'streams, 5 orders a second' }
  print(`\n${count} streams on one instance, ${orders.toLocaleString('en-US')} orders\n`)
  printColumns([
    ['GET one', 'a second', 'p50', 'p99', 'max'],
    ...Object.entries(reads).map(([name, { rate, p50, p99, max }]) => [
      names[name as keyof typeof names],
      ...[rate, p50, p99, max].map(short),
    ]),
  ])
  const megabytes = (bytes: number) => short(bytes / 1e6)
  print(
    `\nmemory: ${megabytes(resident.before)} MB without, ${megabytes(resident.after)} MB with, ${megabytes(resident.end)} MB at the end`,
  )
  print(
    `from the 201 to a stream: p50 ${short(delivery.p50)} ms, p99 ${short(delivery.p99)} ms, max ${short(delivery.max)} ms (${delivery.told} events)`,
  )
  print(
    `written to ${writeResult(values.label, { machine: machineFacts(), count, orders, reads, delivery, resident })}`,
  )
}
