import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { buildWebIfStale } from '../web/build.ts'

/**
 * Runs the suite on both engines: everything on embedded SQLite, and what meets a database once more on a real
 * PostgreSQL from npm (or on the server of TEST_DATABASE_URL). Arguments name test files instead of all.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
/** Long forms are given more time, and one file after the other where they measure. */
const concurrency = `--test-concurrency=${process.env.TEST_CONCURRENCY ?? 3}`
/** A test that hangs fails, instead of holding up everything. */
const timeout = `--test-timeout=${process.env.TEST_TIMEOUT_MILLISECONDS ?? 300_000}`
/** What test/faults/ chooses at random follows from it. */
const faultSeed = process.env.FAULT_SEED ?? randomBytes(4).toString('hex')

/** What looks at no database, or at SQLite's own parts, need not run twice. */
const runsOnce = [
  // Starts the service and its baselines; PostgreSQL is one of its own options.
  'test/bench',
  'test/contract/security-docs',
  'test/cli/',
  'test/db/',
  // What no engine has a part in, or what takes SQLite's file away.
  'test/faults/connections',
  'test/faults/sqlite-',
  'test/layering',
  'test/readme',
  'test/orders/filter',
  'test/security/limits-',
  'test/security/path-',
  'test/security/request-',
  'test/security/token-',
  'test/security/wycheproof',
  'test/auth/passwords',
  // The browser's own set-up, and views that no engine changes; the journeys through orders run on both.
  'test/browser/browser',
  'test/browser/network',
  'test/browser/problem-pages',
  'test/browser/sign-in',
  'test/browser/views',
  'test/http/config',
  'test/http/fields',
  // Takes the file away; test/faults/ takes PostgreSQL away in every way.
  'test/http/health',
  'test/http/paging',
  'test/http/preconditions',
  'test/http/start',
  'test/web/',
]
const postgresOnly = [
  'test/cli/copy',
  'test/faults/cluster-start',
  'test/faults/instances',
  'test/faults/order-tally',
  'test/faults/postgres-',
  'test/faults/rotation-race',
]
/** Among what runs once by its folder, what meets a database of either engine. */
const runsTwice = ['test/cli/seed-orders', 'test/db/close']

const asked = process.argv.slice(2)
const files = asked.length > 0 ? asked : globSync('test/**/*.test.ts', { cwd: root }).sort()
const startsWithAny = (prefixes: string[]) => (file: string) =>
  prefixes.some((prefix) => file.startsWith(prefix))
const onSqlite = files.filter((file) => !startsWithAny(postgresOnly)(file))
const onPostgres = files.filter(
  (file) => startsWithAny([...postgresOnly, ...runsTwice])(file) || !startsWithAny(runsOnce)(file),
)

await buildWebIfStale()
const { TEST_DATABASE_URL: given, ...inherited } = process.env
const environment = { ...inherited, FAULT_SEED: faultSeed }
process.stdout.write(`\n# FAULT_SEED=${faultSeed}\n`)
let status = await run('embedded SQLite', onSqlite, environment)
if (onPostgres.length > 0) status = (await runOnPostgres()) || status
process.exitCode = status

async function runOnPostgres(): Promise<number> {
  const server = given ? { url: given, end: async () => undefined } : await startPostgres()
  try {
    return await run('PostgreSQL', onPostgres, { ...environment, TEST_DATABASE_URL: server.url })
  } finally {
    await server.end()
  }
}

async function run(engine: string, chosen: string[], env: NodeJS.ProcessEnv): Promise<number> {
  if (chosen.length === 0) return 0
  process.stdout.write(`\n# ${chosen.length} files on ${engine}\n\n`)
  const child = spawn(process.execPath, ['--test', concurrency, timeout, ...chosen], {
    cwd: root,
    env,
    stdio: 'inherit',
  })
  const [code] = await once(child, 'exit')
  return code ?? 1
}

/** Lives in a guard that ends it whenever this process ends, however that happens. */
async function startPostgres(): Promise<{ url: string; end(): Promise<unknown> }> {
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
