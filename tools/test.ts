import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { buildWebIfStale } from '../web/build.ts'
import { makeKyselyOneFile } from './one-file.ts'

/**
 * Runs the suite on both engines: SQLite, and a real PostgreSQL from npm (or the server of
 * TEST_DATABASE_URL). Arguments name test files or folders; --quick leaves only the files that need no
 * database, --long runs the long form of what has one. A file says in its first line which engine it
 * needs (`// engine: both`), and whether it waits (`// engine: SQLite, waits`), or its folder does in
 * `suite.json`; without either it runs on SQLite. A process runs some files of folders with
 * equal options; its output is shown when it fails. --slowest lists the slowest tests at the end.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const has = (option: string) => process.argv.includes(option)
const [isQuick, isLong] = [has('--quick'), has('--long')]
const asked = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
/** Processes that compute at once: one per core. Long forms measure, so they run alone. */
const computeAtOnce = isLong ? 1 : availableParallelism()
/** Further processes, which wait half of their time or more. */
const waitAtOnce = isLong ? 0 : availableParallelism() + 1
/** A hanging test fails instead of holding up everything. */
const timeoutMilliseconds = isLong ? 3_600_000 + Number(process.env.SECONDS ?? 0) * 1000 : 300_000

const { FAULT_SEED, FUZZ_SEED, FUZZ_RUNS, FUZZ_SECONDS, SEED, SECONDS } = process.env
/** The suite chooses the same each time, so that only a change turns it red. The long forms draw. */
const seed = String(isLong ? randomInt(2 ** 31 - 1) : 1)
/** The random choices of test/faults/, test/fuzz/ and test/simulation/ follow from these. */
const seeds = {
  FAULT_SEED: FAULT_SEED ?? seed,
  FUZZ_SEED: FUZZ_SEED ?? seed,
  SEED: SEED ?? seed,
}
const long = {
  FAULTS: 'long',
  FUZZ_SECONDS: FUZZ_SECONDS ?? (FUZZ_RUNS ? '' : '180'),
  SECONDS: SECONDS ?? '180',
}

/**
 * Engines by their name in a declaration. A file that needs none still runs once, without TEST_DATABASE_URL.
 */
const engines = {
  none: ['SQLite'],
  SQLite: ['SQLite'],
  PostgreSQL: ['PostgreSQL'],
  both: ['SQLite', 'PostgreSQL'],
}
type Engine = keyof typeof engines

/** The options in the `suite.json` of a folder, with their defaults. */
const defaults = {
  engine: 'SQLite' as Engine,
  /** Loading the service takes 1.1 s of a core, so files share a process. */
  filesOfAProcess: 40,
  /** Its files take long, so none of them should be left alone at the end. */
  startsFirst: false,
  /** Waits at least half of its time, so the cores have room for other processes. */
  waits: false,
  /** On its last engine it tests the service as it ships: see `startService` in test/support/service.ts. */
  ships: false,
}
type Suite = typeof defaults

interface TestFile {
  path: string
  engine: Engine
  suite: Suite
}

interface Run {
  files: string[]
  engine: string
  suite: Suite
  ships: boolean
}

const startsFirst = ({ suite }: Run) => Number(suite.startsFirst)
const runs = planOf(chosenFiles()).sort((one, other) => startsFirst(other) - startsFirst(one))
const queues = {
  waiting: runs.filter(({ suite }) => suite.waits).values(),
  computing: runs.filter(({ suite }) => !suite.waits).values(),
}

/** For databases and browsers: in memory if that serves, because no test is about a slow disk. */
const memory = '/dev/shm'
const place = process.env.TMPDIR === undefined && serves(memory) ? memory : tmpdir()
const scratch = mkdtempSync(join(place, 'countersign-tests-'))
// As usual for such a folder: some tests start programs as another account.
chmodSync(scratch, 0o1777)
process.env.TMPDIR = scratch
process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 5 }))
/** Each leads a group: the programs that its tests start end with it. */
const running = new Set<ChildProcess>()
let isEnding = false
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (isEnding) process.exit(1)
    isEnding = true
    for (const { pid, exitCode } of running) if (exitCode === null) process.kill(-(pid as number), 'SIGKILL')
  })
}

const begun = performance.now()
const named = Object.entries(seeds).map(([name, seed]) => `${name}=${seed}`)
process.stdout.write(`# ${runs.length} processes, ${named.join(' ')}\n`)
const [postgres] = await Promise.all([
  runs.some(({ engine }) => engine === 'PostgreSQL') ? startPostgres() : undefined,
  isQuick ? undefined : buildWebIfStale(),
  makeKyselyOneFile(),
])
const environment: NodeJS.ProcessEnv = {
  ...process.env,
  ...seeds,
  ...(isLong ? long : {}),
  // Otherwise a fifth of a test file's cost is reading and stripping the modules of the service.
  NODE_COMPILE_CACHE: `${root}node_modules/.cache/compile`,
  // A thread of the service then loads in three quarters of its time: no path is followed link by link. With
  // more room for young objects, a test file costs 5 % less.
  NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --preserve-symlinks --max-semi-space-size=64`,
}
delete environment.TEST_DATABASE_URL
const counts = { pass: 0, fail: 0, cancelled: 0, skipped: 0 }
const red: string[] = []
const slowest: { seconds: number; test: string }[] = []
await Promise.all([
  ...Array.from({ length: computeAtOnce }, () => workOff(queues.computing, queues.waiting)),
  ...Array.from({ length: waitAtOnce }, () => workOff(queues.waiting, queues.computing)),
])
await postgres?.end()
const seconds = ((performance.now() - begun) / 1000).toFixed()
const { pass, fail, cancelled, skipped } = counts
process.stdout.write(`# ${pass} passed, ${fail + cancelled} failed, ${skipped} skipped in ${seconds} s\n`)
for (const line of red) process.stdout.write(`# red: ${line}\n`)
slowest.sort((one, other) => other.seconds - one.seconds)
for (const { seconds, test } of has('--slowest') ? slowest.slice(0, 50) : []) {
  process.stdout.write(`# ${seconds.toFixed(1)} s ${test}\n`)
}
process.exitCode = red.length > 0 || isEnding ? 1 : 0

function chosenFiles(): TestFile[] {
  const every = globSync('{test,bench/test,verify/test,witness/test}/**/*.test.ts', { cwd: root })
    .sort()
    .map(declared)
  for (const prefix of asked) {
    if (!every.some(({ path }) => path.startsWith(prefix))) throw new Error(`there is no test ${prefix}`)
  }
  const isAsked = (path: string) => asked.length === 0 || asked.some((prefix) => path.startsWith(prefix))
  return every.filter(({ path, engine }) => isAsked(path) && (!isQuick || engine === 'none'))
}

function declared(path: string): TestFile {
  const suite = suiteOf(path.split('/').slice(0, -1))
  const [first = '', ...others] = readFileSync(join(root, path), 'utf8').split('\n')
  const attempt = /^\s*\/[/*]+\s*engines?\b/i
  if (others.some((line) => attempt.test(line))) throw new Error(`${path}: the engine is declared in line 1`)
  if (!attempt.test(first)) return { path, engine: suite.engine, suite }
  const [, name = first, waits] = /^\/\/ engine: (\w+)(, waits)?$/.exec(first) ?? []
  return {
    path,
    engine: knownEngine(path, name),
    suite: { ...suite, waits: suite.waits || waits !== undefined },
  }
}

/** The folder's own `suite.json`, or that of a folder above it. */
function suiteOf(folders: string[]): Suite {
  const path = [...folders, 'suite.json'].join('/')
  if (folders.length === 0) return defaults
  if (!existsSync(join(root, path))) return suiteOf(folders.slice(0, -1))
  const given: Partial<Suite> = JSON.parse(readFileSync(join(root, path), 'utf8'))
  for (const [name, value] of Object.entries(given)) {
    const isKnown = typeof value === typeof defaults[name as keyof Suite]
    if (!isKnown) throw new Error(`${path}: no suite has ${name}: ${value}`)
  }
  return { ...defaults, ...given, engine: knownEngine(path, given.engine ?? defaults.engine) }
}

function knownEngine(path: string, name: string): Engine {
  if (Object.hasOwn(engines, name)) return name as Engine
  throw new Error(`${path}: there is no engine '${name}'; it is one of ${Object.keys(engines).join(', ')}`)
}

/**
 * A shipped run and one inside the tests' own process cannot share a process. Neither can folders with
 * different options.
 */
function planOf(files: TestFile[]): Run[] {
  const placed = files.flatMap(({ path, engine, suite }) =>
    engines[engine].map((name, index, { length }) => ({
      path,
      engine: name,
      suite,
      ships: suite.ships && index === length - 1,
    })),
  )
  const kindOf = ({ engine, ships, suite }: (typeof placed)[number]) =>
    [engine, ships, ...Object.values({ ...suite, ships: '' })].join(' ')
  const groups = Map.groupBy(placed, kindOf)
  return [...groups.values()].flatMap((group) => {
    const processes = Math.ceil(group.length / (group[0]?.suite.filesOfAProcess ?? 1))
    return Array.from({ length: processes }, (_, first) => {
      const share = group.filter((_, position) => position % processes === first)
      const [{ path: _path, ...how }] = share as [(typeof group)[number]]
      return { ...how, files: share.map(({ path }) => path) }
    })
  })
}

/** Works through one queue, then what is left of the other. */
async function workOff(...inTurn: Iterable<Run>[]): Promise<void> {
  for (const queue of inTurn) for (const run of queue) if (!isEnding) await carryOut(run)
}

async function carryOut(run: Run): Promise<void> {
  const started = performance.now()
  const { isGreen, output } = await runFiles(run)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  const line = `${nameOf(run.files)} on ${run.engine}, ${seconds} s`
  for (const [, test = '', milliseconds] of output.matchAll(/^ +✔ (.+) \((\d+)\.?\d*ms\)$/gm)) {
    slowest.push({ seconds: Number(milliseconds) / 1000, test: `${run.engine}: ${test}` })
  }
  process.stdout.write(isGreen ? `ok  ${line}\n` : `${output}\nRED ${line}\n`)
  if (!isGreen) red.push(line)
  for (const what of Object.keys(counts) as (keyof typeof counts)[]) {
    counts[what] += Number(new RegExp(`^\\S+ ${what} (\\d+)$`, 'm').exec(output)?.[1] ?? 0)
  }
}

/** As a shell pattern: `{test/auth/cookies,test/auth/surplus}.test.ts`. */
function nameOf(files: string[]): string {
  const names = files.map((file) => file.slice(0, -'.test.ts'.length))
  return `${names.length > 1 ? `{${names.join(',')}}` : names}.test.ts`
}

async function runFiles(run: Run): Promise<{ isGreen: boolean; output: string }> {
  // With all the room for young objects from the start, a test file costs another 5 % less.
  const options = ['--min-semi-space-size=64', '--test', '--test-isolation=none']
  options.push(`--test-timeout=${timeoutMilliseconds}`)
  const child = spawn(process.execPath, [...options, '--test-reporter=spec', ...run.files], {
    cwd: root,
    env: environmentOf(run),
    // A file that leaves something open after its last test never ends.
    timeout: (run.files.length + 1) * timeoutMilliseconds,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const [code] = await once(child, 'close')
  running.delete(child)
  // A runner that gets a signal to end may exit with 0, as if no test were left.
  const isWhole = /^ℹ tests [1-9]/m.test(output) && /^ℹ cancelled 0$/m.test(output)
  return { isGreen: code === 0 && isWhole, output }
}

function environmentOf({ engine, ships }: Run): NodeJS.ProcessEnv {
  return {
    ...environment,
    ...(engine === 'PostgreSQL' ? { TEST_DATABASE_URL: postgres?.url } : {}),
    ...(ships ? { TEST_SHIPPED: 'yes' } : {}),
  }
}

/**
 * The whole suite needs a few hundred megabytes at a time, and runs PostgreSQL and a browser from there.
 * Containers often forbid that.
 */
function serves(folder: string): boolean {
  if (!existsSync(folder)) return false
  const { bavail, bsize } = statfsSync(folder)
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
  const options = mounts.findLast(([, at]) => at === folder)?.[3]?.split(',') ?? []
  return bavail * bsize > 2 ** 32 && !options.includes('noexec') && !options.includes('ro')
}

/** Runs in a guard, which ends it however this process ends. */
async function startPostgres(): Promise<{ url: string; end(): Promise<unknown> }> {
  const given = process.env.TEST_DATABASE_URL
  if (given) return { url: given, end: async () => undefined }
  const guard: ChildProcess = spawn(process.execPath, ['test/support/postgres-guard.ts'], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(guard, 'exit')
  if (guard.stdout === null || guard.stdin === null) throw new Error('the guard has no pipes')
  const [url] = (await Promise.race([
    once(createInterface({ input: guard.stdout }), 'line'),
    ended.then(() => {
      throw new Error('PostgreSQL did not start')
    }),
  ])) as [string]
  const { stdin } = guard
  return {
    url,
    end() {
      stdin.end()
      return ended
    },
  }
}
