import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { makeKyselyOneFile } from '../tools/one-file.ts'
import { startPostgres } from './data.ts'
import { measureGrowth } from './growth.ts'
import { type BenchOptions, readOptions } from './options.ts'
import { type Line, machineFacts, print, printTable, short, toLine, writeResult } from './report.ts'
import { interleave, median } from './rounds.ts'
import { type NamedScenario, postgresScenarios, signInScenarios, sqliteScenarios } from './scenarios.ts'
import { fileOf, type MeasuredServer } from './server.ts'
import { postgresSite, prepareWorkplace, type Site, sqliteSite, startBaseline, startService } from './site.ts'
import { measureWaiting } from './waiting.ts'

/** Scenarios that share one round of F. */
const groupSize = 5

const idleMilliseconds = 2_000

const options = readOptions(process.argv.slice(2))
const rounds = { ...options, onRound: note }
const begunAt = performance.now()
const workplace = prepareWorkplace()
const stops: (() => unknown)[] = [workplace.remove]
/** Written even if a later part fails, so that what was measured by then is not lost. */
const result: Record<string, unknown> = { machine: machineFacts(), options }
try {
  await run()
} finally {
  for (const stop of stops.toReversed()) await stop()
  print(
    `\nwritten to ${writeResult(options.label, result)}, ${short((performance.now() - begunAt) / 1000)} s`,
  )
}

async function run(): Promise<void> {
  await makeKyselyOneFile()
  const size = options.orders.toLocaleString('en-US')
  note(`data set of ${size} orders`)
  const site = await sqliteSite(workplace, options.orders, 'table', options.users)
  stops.push(() => site.close())
  result.startMilliseconds = await measureStart(site)
  const service = await started(startService(site))
  await delay(Math.min(idleMilliseconds, options.seconds * 1_000))
  result.idleMegabytes = (await service.usage()).residentBytes / 1e6
  const f = baseline('F (by hand)', await started(startBaseline(site, 'by-hand')), site)
  const fixed = baseline('raw static', await started(startBaseline(site, 'static')), site)

  const creating = await sqliteSite(workplace, options.orders, 'creating', options.users)
  stops.push(() => creating.close())
  const scenarios = sqliteScenarios(site, service, {
    site: creating,
    server: await started(startService(creating)),
  })
  result.sqlite = await measure(`SQLite, ${size} orders`, [fixed, ...scenarios], f)
  result.signIn = await measureSignIn(site, service, f)
  result.loadedMegabytes = (await service.usage()).residentBytes / 1e6
  const { startMilliseconds, idleMegabytes, loadedMegabytes } = result as Record<string, number>
  print(
    `\nstart: ${short(startMilliseconds ?? 0)} ms (at most 350); ` +
      `memory: ${short(idleMegabytes ?? 0)} MB idle (130), ${short(loadedMegabytes ?? 0)} MB after load (220)`,
  )
  if (options.postgres) result.postgres = await measurePostgres(`PostgreSQL, ${size} orders`, f)
  if ('waits:me'.includes(options.only)) {
    const waiting = await sqliteSite(workplace, options.orders, 'waiting', options.users)
    stops.push(() => waiting.close())
    result.waiting = await measureWaiting(`What waits, SQLite, ${size} orders`, waiting, rounds)
  }
  result.growth = await measureGrowth(workplace, options, note)
}

async function started(server: Promise<MeasuredServer>): Promise<MeasuredServer> {
  const running = await server
  stops.push(() => running.stop())
  return running
}

function baseline(name: string, server: MeasuredServer, { callers, paths }: Site): NamedScenario {
  return {
    name,
    server,
    requests: () => ({ kind: 'get', paths: paths.orders, headers: callers.bearers }),
    connections: 32,
  }
}

/** In groups, each with its own rounds of F. The first line is F's over all groups. */
async function measure(title: string, all: NamedScenario[], f: NamedScenario): Promise<Line[]> {
  const wanted = all.filter(({ name }) => name.includes(options.only))
  const lines: Line[] = []
  const ofF = []
  for (let start = 0; start < wanted.length; start += groupSize) {
    const group = wanted.slice(start, start + groupSize)
    const results = await interleave([f, ...group], rounds)
    const fRounds = results.get(f.name) ?? []
    ofF.push(...fRounds)
    for (const scenario of group) lines.push(toLine(scenario, results.get(scenario.name) ?? [], fRounds))
  }
  if (ofF.length > 0) lines.unshift(toLine(f, ofF))
  printTable(title, lines)
  return lines
}

async function measureSignIn(
  site: Site,
  service: MeasuredServer,
  f: NamedScenario,
): Promise<Record<string, unknown>> {
  const lines = await measure('Signing in', signInScenarios(site, service), f)
  const bare = await bareRates(options)
  const of = (name: string) => lines.find((line) => line.name === name)
  const login = (of('login')?.rate ?? Number.NaN) / bare.argon2id
  const refreshes = of('token refresh')?.rate ?? Number.NaN
  const byPasskey = 1e6 / (of('login by passkey')?.cpuMicroseconds ?? Number.NaN)
  const slowdown =
    (of('GET of a reader, during logins')?.p99 ?? Number.NaN) / (of('GET of a reader, alone')?.p99 ?? 0)
  print(
    `login: ${short(login)} of the bare Argon2id rate on all cores, ${short(bare.argon2id)}/s (at least 0.9)\n` +
      `login by passkey: ${short(byPasskey)} for each second of processor time (at least 1,000)\n` +
      `refresh: ${short(refreshes / bare.signOneThread)} of the bare RS256 rate of one thread, ` +
      `${short(bare.signOneThread)}/s (at least 0.8); ${short(refreshes / bare.signAllCores)} of that of all cores\n` +
      `p99 of a reader during logins: ${short(slowdown)} times that without (at most 5)`,
  )
  const refresh = refreshes / bare.signOneThread
  return { lines, bare, login, byPasskey, refresh, readerSlowdown: slowdown }
}

interface BareRates {
  argon2id: number
  signOneThread: number
  signAllCores: number
}

/** In a separate process, while the bench runs nothing else. */
async function bareRates({ seconds }: BenchOptions): Promise<BareRates> {
  note('bare cryptography')
  const args = [fileOf('./baselines/crypto.ts'), String(seconds * 1000)]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout)
}

/** From the start of the process to its first answer, as an operator would see it. */
async function measureStart(site: Site): Promise<number> {
  note('start')
  const times: number[] = []
  for (let count = 0; count < options.rounds; count += 1) {
    const server = await startService(site, { probe: false })
    times.push(server.startMilliseconds)
    await server.stop()
  }
  return median(times)
}

async function measurePostgres(title: string, f: NamedScenario): Promise<Line[]> {
  note('PostgreSQL')
  const server = await startPostgres()
  stops.push(() => server.end())
  const site = await postgresSite(workplace, options.orders, server.url)
  stops.push(() => site.close())
  const lines = await measure(title, postgresScenarios(site, await started(startService(site))), f)
  if (!'waits:me'.includes(options.only)) return lines
  return [...lines, ...(await measureWaiting(`What waits, ${title}`, site, rounds))]
}

function note(text: string): void {
  process.stderr.write(`${short((performance.now() - begunAt) / 1000)} s  ${text}\n`)
}
