import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { buildWebIfStale } from '../web/build.ts'
import { makeKyselyOneFile } from './one-file.ts'

/**
 * Runs the suite on both engines: everything on embedded SQLite, and what meets a database once more on a real
 * PostgreSQL from npm (or on the server of TEST_DATABASE_URL). Arguments name test files instead of all. A file is a
 * process, or some files of a folder are one. What computes stands in one queue, what mostly waits in another. What a
 * process prints is shown when it fails.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
/** Processes at once that compute: one for each core. Long forms run one file after the other, for they measure. */
const computeAtOnce = Number(process.env.TEST_CONCURRENCY ?? availableParallelism())
/** Beside them, of those that mostly wait. */
const waitAtOnce = process.env.TEST_CONCURRENCY === undefined ? 2 : 0
/** A test that hangs fails, instead of holding up everything. */
const timeoutMilliseconds = Number(process.env.TEST_TIMEOUT_MILLISECONDS ?? 300_000)
/** What test/faults/ chooses at random follows from it. */
const faultSeed = process.env.FAULT_SEED ?? randomBytes(4).toString('hex')
/** Begun first, so that no long file is left alone at the end. */
const longest = ['test/browser/', 'test/bench', 'test/cli/', 'test/fuzz/']
/** For what has gone to come back, for time to pass: the cores have room for others meanwhile. */
const waiting = ['test/faults/']

/** What looks at no database, or at SQLite's own parts, need not run twice. */
const runsOnce = [
  'test/audit/canonical',
  'test/audit/statements',
  'test/audit/verify-log',
  // Starts the service and its baselines; PostgreSQL is one of its own options.
  'test/bench',
  'test/contract/answers',
  'test/contract/openapi',
  'test/contract/problems',
  'test/contract/routes-',
  'test/contract/schemas',
  'test/contract/security-docs',
  'test/cli/',
  'test/client/',
  'test/db/',
  // What no engine has a part in, or what takes SQLite's file away.
  'test/faults/connections',
  'test/faults/grace',
  'test/faults/log-reader',
  'test/faults/sqlite-',
  'test/layering',
  'test/readme',
  'test/orders/filter',
  'test/orders/list-links',
  'test/orders/list-plans',
  'test/security/antiforgery-',
  'test/security/credential-',
  'test/security/leaks',
  'test/security/limits-',
  'test/security/path-',
  'test/security/request-',
  'test/security/session-',
  'test/security/sign-in-',
  'test/security/token-',
  'test/auth/access-token',
  'test/auth/antiforgery',
  'test/auth/cookies',
  'test/auth/getCsrfToken',
  'test/auth/issueServiceToken-form',
  'test/auth/lifetimes',
  'test/auth/metadata',
  'test/auth/names',
  'test/auth/oauth-library',
  'test/auth/passwords',
  'test/auth/recent-sign-in',
  'test/auth/security-events',
  'test/auth/signing-keys',
  // No engine changes what a browser shows; one journey shows that it is so.
  'test/browser/',
  'test/http/',
  'test/web/',
]
const postgresOnly = [
  'test/cli/copy',
  'test/faults/instances',
  'test/faults/order-tally',
  'test/faults/postgres-',
  'test/faults/rotation-race',
]
/** Among what runs once by its folder, what meets a database of either engine. */
const runsTwice = [
  'test/browser/journey',
  'test/cli/seed-orders',
  'test/db/close',
  'test/db/tables',
  'test/http/cleanup',
  'test/http/metrics',
]

/** Files of a folder share a process, up to so many: loading the service takes 1.1 s of a core each time. */
const filesOfAProcess = 16
/** Otherwise: of a browser four processes at once, of what waits two files, of what starts nothing all. */
const filesOfOne: Record<string, number> = { browser: 8, faults: 2, web: 40 }

/**
 * Their run on PostgreSQL, or the only one that a file has, meets the service as it ships: `node server/main.ts serve`,
 * with NODE_ENV=production, in a process of its own (test/support/service.ts).
 */
const shipped = ['auth', 'contract', 'http', 'orders'].map((folder) => `test/${folder}/`)

interface Run {
  files: string[]
  engine: 'SQLite' | 'PostgreSQL'
  ships: boolean
}

const startsWithAny = (prefixes: string[]) => (file: string) =>
  prefixes.some((prefix) => file.startsWith(prefix))
const every = globSync('test/**/*.test.ts', { cwd: root }).sort()
/** Files, or folders, for each of its files runs on the engines that are its own. */
const asked = process.argv.slice(2)
for (const prefix of [...runsOnce, ...postgresOnly, ...runsTwice, ...longest, ...waiting, ...asked]) {
  if (!every.some(startsWithAny([prefix]))) throw new Error(`there is no test ${prefix}`)
}
const files = asked.length > 0 ? every.filter(startsWithAny(asked)) : every
const onSqlite = files.filter((file) => !startsWithAny(postgresOnly)(file))
const onPostgres = files.filter(
  (file) => startsWithAny([...postgresOnly, ...runsTwice])(file) || !startsWithAny(runsOnce)(file),
)
const shipsOnSqlite = (file: string) => startsWithAny(shipped)(file) && !onPostgres.includes(file)
const runs: Run[] = [
  ...inProcesses(onSqlite.filter(shipsOnSqlite), { engine: 'SQLite', ships: true }),
  ...inProcesses(
    onSqlite.filter((file) => !shipsOnSqlite(file)),
    { engine: 'SQLite', ships: false },
  ),
  ...inProcesses(onPostgres, { engine: 'PostgreSQL', ships: true }),
]
const isOf = (prefixes: string[]) => {
  const isNamed = startsWithAny(prefixes)
  return ({ files }: Run) => files.some(isNamed)
}
const waits = isOf(waiting)
const isLong = isOf(longest)
const computing = runs.filter((run) => !waits(run)).sort((a, b) => Number(isLong(b)) - Number(isLong(a)))
const queues = { waiting: runs.filter(waits).values(), computing: computing.values() }

const begun = performance.now()
process.stdout.write(`# ${runs.length} processes, FAULT_SEED=${faultSeed}\n`)
const [postgres] = await Promise.all([
  runs.some(({ engine }) => engine === 'PostgreSQL') ? startPostgres() : undefined,
  buildWebIfStale(),
  makeKyselyOneFile(),
])
const environment: NodeJS.ProcessEnv = {
  ...process.env,
  FAULT_SEED: faultSeed,
  // A fifth of what a file of tests costs is reading and stripping the modules of the service.
  NODE_COMPILE_CACHE: `${root}node_modules/.cache/compile`,
}
delete environment.TEST_DATABASE_URL
const counts = { pass: 0, fail: 0, cancelled: 0, skipped: 0 }
const red: string[] = []
await Promise.all([
  ...Array.from({ length: computeAtOnce }, () => workOff(queues.computing, queues.waiting)),
  ...Array.from({ length: waitAtOnce }, () => workOff(queues.waiting, queues.computing)),
])
await postgres?.end()
const seconds = ((performance.now() - begun) / 1000).toFixed()
const { pass, fail, cancelled, skipped } = counts
process.stdout.write(`# ${pass} passed, ${fail + cancelled} failed, ${skipped} skipped in ${seconds} s\n`)
for (const line of red) process.stdout.write(`# red: ${line}\n`)
process.exitCode = red.length > 0 ? 1 : 0

/** One queue, and then what is left of the other. */
async function workOff(...inTurn: Iterable<Run>[]): Promise<void> {
  for (const queue of inTurn) for (const run of queue) await carryOut(run)
}

async function carryOut(run: Run): Promise<void> {
  const started = performance.now()
  const { isGreen, output } = await runFiles(run)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  const line = `${nameOf(run.files)} on ${run.engine}, ${seconds} s`
  process.stdout.write(isGreen ? `ok  ${line}\n` : `${output}\nRED ${line}\n`)
  if (!isGreen) red.push(line)
  for (const what of Object.keys(counts) as (keyof typeof counts)[]) {
    counts[what] += Number(new RegExp(`^\\S+ ${what} (\\d+)$`, 'm').exec(output)?.[1] ?? 0)
  }
}

function inProcesses(files: string[], how: Omit<Run, 'files'>): Run[] {
  const folders = Map.groupBy(files, (file) => file.split('/')[1] ?? '')
  const shares = [...folders].flatMap(([folder, inFolder]) => {
    const processes = Math.ceil(inFolder.length / (filesOfOne[folder] ?? filesOfAProcess))
    return Array.from({ length: processes }, (_, first) =>
      inFolder.filter((_, position) => position % processes === first),
    )
  })
  return shares.map((files) => ({ files, ...how }))
}

/** As a shell would take it: `test/auth/{cookies,surplus}.test.ts`. */
function nameOf(files: string[]): string {
  const [first = ''] = files
  if (files.length === 1) return first
  const folder = first.split('/').slice(0, 2).join('/')
  const names = files.map((file) => file.slice(folder.length + 1, -'.test.ts'.length))
  return `${folder}/{${names.join(',')}}.test.ts`
}

async function runFiles(run: Run): Promise<{ isGreen: boolean; output: string }> {
  const options = ['--test', '--test-isolation=none', `--test-timeout=${timeoutMilliseconds}`]
  const child = spawn(process.execPath, [...options, '--test-reporter=spec', ...run.files], {
    cwd: root,
    env: environmentOf(run),
    // Of all its files a little more: one that leaves something open behind its last test never ends.
    timeout: (run.files.length + 1) * timeoutMilliseconds,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const [code] = await once(child, 'close')
  return { isGreen: code === 0, output }
}

function environmentOf({ files, engine, ships }: Run): NodeJS.ProcessEnv {
  return {
    ...environment,
    ...(engine === 'PostgreSQL' ? { TEST_DATABASE_URL: postgres?.url } : {}),
    ...(ships && files.some(startsWithAny(shipped)) ? { TEST_SHIPPED: 'yes' } : {}),
  }
}

/** Lives in a guard that ends it whenever this process ends, however that happens. */
async function startPostgres(): Promise<{ url: string; end(): Promise<unknown> }> {
  const given = process.env.TEST_DATABASE_URL
  if (given) return { url: given, end: async () => undefined }
  const guard: ChildProcess = spawn(process.execPath, ['test/support/postgres-guard.ts'], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  if (guard.stdout === null || guard.stdin === null) throw new Error('the guard has no pipes')
  const [url] = (await Promise.race([
    once(createInterface({ input: guard.stdout }), 'line'),
    once(guard, 'exit').then(() => {
      throw new Error('PostgreSQL did not start')
    }),
  ])) as [string]
  const { stdin } = guard
  return {
    url,
    end() {
      const exit = once(guard, 'exit')
      stdin.end()
      return exit
    },
  }
}
