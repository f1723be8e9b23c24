import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildWebIfStale } from '../web/build.ts'
import type { Edit, Guard } from './guards/guard.ts'
import { guards } from './guards/list.ts'

/**
 * Breaks the guards of tools/guards/ one at a time, each in a private copy of the tree, and runs the tests that have to
 * notice. Arguments choose guards by parts of their ids. Fails when a guard was broken and no test failed.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const asked = process.argv.slice(2)
const chosen = guards.filter(({ id }) => asked.length === 0 || asked.some((part) => id.includes(part)))
/** Copies, and so guards broken at the same time. */
const copies = 2
const testLimitMilliseconds = 120_000
/** Of all tests of a guard: one that waits for a refusal which never comes asks for ever, and no limit of a test ends it. */
const runLimitMilliseconds = 300_000

type Verdict = 'noticed' | 'NOT noticed'

interface Outcome {
  guard: Guard
  verdict: Verdict
  failed: number
  seconds: number
}

interface Run {
  passed: number
  failed: number
  isGreen: boolean
  /** Why tests failed, in the words of the runner. */
  failures: string
}

await buildWebIfStale()
const folder = mkdtempSync(join(tmpdir(), 'countersign-guards-'))
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) end(child)
  rmSync(folder, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
process.exitCode = await main()

async function main(): Promise<number> {
  const trees = Array.from({ length: copies }, (_, index) => copyTree(join(folder, `copy-${index}`)))
  const red = await inLanes(trees, testFilesOf(chosen), async (tree, { tests, engine }) => {
    const { isGreen, failures } = await runTests(tree, tests, engine)
    return isGreen ? [] : [`${tests.join(', ')}\n${failures}`]
  })
  if (red.flat().length > 0) {
    process.stdout.write(`These fail though nothing is broken:\n${red.flat().join('\n')}\n`)
    return 1
  }
  process.stdout.write(
    `| guard | file | tests | verdict | tests that failed | seconds |\n|---|---|---|---|--:|--:|\n`,
  )
  const outcomes = await inLanes(trees, chosen, async (tree, guard) => {
    const outcome = await breakOne(tree, guard)
    process.stdout.write(`${rowOf(outcome)}\n`)
    return outcome
  })
  const unnoticed = outcomes.filter(({ verdict }) => verdict !== 'noticed')
  process.stdout.write(`\n${outcomes.length - unnoticed.length} of ${outcomes.length} guards noticed\n`)
  return unnoticed.length === 0 ? 0 : 1
}

function copyTree(target: string): string {
  const left = ['.git', 'node_modules', 'data', 'results']
  for (const entry of readdirSync(root)) {
    if (left.includes(entry)) continue
    cpSync(join(root, entry), join(target, entry), {
      recursive: true,
      preserveTimestamps: true,
      filter: (source) => !left.includes(basename(source)),
    })
  }
  symlinkSync(join(root, 'node_modules'), join(target, 'node_modules'))
  return target
}

/** Each file of tests once for each engine that a guard wants it on. */
function testFilesOf(some: Guard[]): Pick<Guard, 'engine' | 'tests'>[] {
  const single = some.flatMap(({ engine, tests }) => tests.map((file) => ({ engine, tests: [file] })))
  return [...new Map(single.map((one) => [JSON.stringify(one), one])).values()]
}

/** As many at a time as there are trees, each in the first that is free. */
async function inLanes<T, R>(
  trees: string[],
  items: T[],
  work: (tree: string, item: T) => Promise<R>,
): Promise<R[]> {
  const waiting = items.entries()
  const results: R[] = []
  await Promise.all(
    trees.map(async (tree) => {
      for (const [index, item] of waiting) results[index] = await work(tree, item)
    }),
  )
  return results
}

async function breakOne(tree: string, guard: Guard): Promise<Outcome> {
  const started = performance.now()
  const kept = new Map(guard.edits.map(({ file }) => [file, readFileSync(join(tree, file), 'utf8')]))
  try {
    for (const edit of guard.edits) apply(tree, edit)
    const run = await runTests(tree, guard.tests, guard.engine)
    if (run.passed === 0) await assertLoads(tree, guard)
    const verdict: Verdict = run.isGreen ? 'NOT noticed' : 'noticed'
    return { guard, verdict, failed: run.failed, seconds: (performance.now() - started) / 1000 }
  } finally {
    for (const [file, text] of kept) writeFileSync(join(tree, file), text)
  }
}

/** A mutant that cannot even be loaded fails every test, and shows nothing. */
async function assertLoads(tree: string, { id, edits }: Guard): Promise<void> {
  for (const { file } of edits) {
    const child = spawn(process.execPath, ['--eval', `import('./${file}')`], { cwd: tree, stdio: 'inherit' })
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`${id}: ${file} cannot be loaded when it is broken so`)
  }
}

function apply(tree: string, { file, from, to }: Edit): void {
  const path = join(tree, file)
  const parts = readFileSync(path, 'utf8').split(from)
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${from}`)
  writeFileSync(path, parts.join(to))
}

/** On PostgreSQL by tools/test.ts, which starts a server for it. */
async function runTests(tree: string, files: string[], engine: Guard['engine']): Promise<Run> {
  const { TEST_DATABASE_URL: _, NODE_TEST_CONTEXT: __, ...env } = process.env
  const limit = `--test-timeout=${testLimitMilliseconds}`
  const command = engine === 'postgres' ? ['tools/test.ts'] : ['--test', limit, '--test-concurrency=1']
  const child = spawn(process.execPath, [...command, ...files], {
    cwd: tree,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    // A group of its own: the processes that it starts end with it.
    detached: true,
  })
  running.add(child)
  const exit = once(child, 'close')
  const timer = setTimeout(() => end(child), runLimitMilliseconds)
  const chunks: Buffer[] = []
  for await (const chunk of child.stdout) chunks.push(chunk)
  const [code] = await exit
  clearTimeout(timer)
  running.delete(child)
  const output = Buffer.concat(chunks).toString()
  const count = (what: string) =>
    [...output.matchAll(new RegExp(`^\\S+ ${what} (\\d+)$`, 'gm'))].reduce((sum, [, n]) => sum + Number(n), 0)
  const [, failures = output] = output.split(/^\S+ failing tests:$/m)
  return { passed: count('pass'), failed: count('fail') + count('cancelled'), isGreen: code === 0, failures }
}

function end({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

function rowOf({ guard, verdict, failed, seconds }: Outcome): string {
  const files = [...new Set(guard.edits.map(({ file }) => file))].join(', ')
  return `| ${guard.id} | ${files} | ${guard.tests.join(', ')} | ${verdict} | ${failed} | ${seconds.toFixed(1)} |`
}
