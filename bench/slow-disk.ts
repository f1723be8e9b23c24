import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { machineFacts, print, printTable, short, toLine, writeResult } from './report.ts'
import { interleave } from './rounds.ts'
import { type NamedScenario, postOrders } from './scenarios.ts'
import { prepareWorkplace, sqliteSite, startBaseline, startService } from './site.ts'

/**
 * Creates and simultaneous reads on a disk whose flushes take some milliseconds: strace (Linux) delays each
 * fsync and fdatasync of the service, and nothing else.
 *
 * node bench/slow-disk.ts [--milliseconds N] [--orders N] [--rounds N] [--seconds N]
 */
const { values } = parseArgs({
  options: {
    milliseconds: { type: 'string', default: '4' },
    orders: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
  },
})
const flush = Number(values.milliseconds)
if (spawnSync('strace', ['--version']).status !== 0) throw new Error('bench/slow-disk.ts needs strace')
const calls = 'fsync,fdatasync'
const inject = `inject=${calls}:delay_enter=${flush * 1000}`
// -D: the child is the service itself, which this file queries and ends; strace watches from another process.
const strace = [
  'strace',
  '-D',
  '-f',
  '-qq',
  '--seccomp-bpf',
  '-o',
  '/dev/null',
  '-e',
  `trace=${calls}`,
  '-e',
  inject,
]

const workplace = prepareWorkplace()
const stops: (() => unknown)[] = [workplace.remove]
try {
  await measure()
} finally {
  for (const stop of stops.toReversed()) await stop()
}

async function measure(): Promise<void> {
  const site = await sqliteSite(workplace, Number(values.orders), 'slow-disk')
  stops.push(() => site.close())
  const baseline = await startBaseline(site, 'by-hand')
  stops.push(() => baseline.stop())
  const server = await startService(site, { launcher: strace })
  stops.push(() => server.stop())
  const get = {
    requests: () => ({ kind: 'get' as const, paths: site.paths.orders, headers: site.callers.bearers }),
    connections: 32,
  }
  const post = { server, requests: () => postOrders(site), connections: 32, expected: 201 }
  const f: NamedScenario = { name: 'F (by hand)', server: baseline, ...get }
  const create: NamedScenario = { name: 'POST', ...post, target: { least: 0.09, hoped: 0.09 } }
  const reader = { server, ...get, connections: 4, pauseMilliseconds: 2 }
  const alone: NamedScenario = { name: 'GET', server, ...get }
  const beside: NamedScenario = { name: 'GET, during POST', server, ...get, beside: post }
  const calm: NamedScenario = { name: 'GET of a reader', ...reader }
  const calmBeside: NamedScenario = { name: 'GET of a reader, during POST', ...reader, beside: post }
  const all = [f, create, alone, beside, calm, calmBeside]
  const options = { rounds: Number(values.rounds), seconds: Number(values.seconds) }
  const results = await interleave(all, { ...options, onRound: () => undefined })
  const lines = all.map((scenario) =>
    toLine(scenario, results.get(scenario.name) ?? [], scenario === f ? undefined : results.get(f.name)),
  )
  printTable(`SQLite, ${values.orders} orders, ${flush} ms more for each flush`, lines)
  const of = (name: string) => lines.find((line) => line.name === name)
  const compare = ({ name }: NamedScenario, other: NamedScenario) => {
    const [one, two] = [of(name), of(other.name)]
    const rate = (one?.rate ?? 0) / (two?.rate ?? 0)
    const p99 = (one?.p99 ?? 0) / (two?.p99 ?? 0)
    print(
      `${name}: ${short(rate)} of the rate without (at least 0.5), ${short(p99)} times its p99 (at most 3)`,
    )
  }
  print('')
  compare(beside, alone)
  compare(calmBeside, calm)
  print(`written to ${writeResult('slow-disk', { machine: machineFacts(), options: values, lines })}`)
}
