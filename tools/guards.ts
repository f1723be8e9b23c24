import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'vite'
import { buildWebIfStale } from '../web/build.ts'
import { drawn } from './guards/drawn.ts'
import { guards } from './guards/list.ts'
import { allPlaces, type Place, placesOf } from './guards/places.ts'

/**
 * Breaks the service in one way at a time, each in a private copy of the tree, and runs the tests that have
 * to notice. The ways are those of tools/guards/list.ts, or with `random 30 x server/outbox web/src/orders`
 * thirty places of these folders (without any: of server/) that follow from x; the tests that are nearest to
 * a place run first. Fails when no test noticed, or when a guard no longer exists. What is noticed only
 * because a test took too long is `late`: that is not enough for a place that was drawn.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const [mode, count, seed = String(Date.now()), ...asked] = process.argv.slice(2)
const folders = asked.length > 0 ? asked : ['server']
/** For one test file. Without a limit, a test that waits for a refusal could wait forever. */
const limitMilliseconds = 300_000

interface Mutant {
  name: string
  places: Place[]
  tests: string[]
}

await buildWebIfStale()
const folder = mkdtempSync(join(tmpdir(), 'countersign-guards-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

/** From here on, edits to the original tree have no effect. */
const trees = ['one', 'two'].map((name) => copyTree(join(folder, name)))
const copy = trees[0] as string
const waiting = (mode === 'random' ? drawn(copy, Number(count), seed, folders) : listed()).values()
const verdicts: string[] = []
const green = new Set<string>()
await Promise.all(trees.map(breakInTurn))
const enough = mode === 'random' ? ['noticed'] : ['noticed', 'late']
const noticed = verdicts.filter((verdict) => enough.includes(verdict)).length
process.stdout.write(
  `${noticed} of ${verdicts.length} noticed${mode === 'random' ? ` (random ${seed})` : ''}\n`,
)
process.exitCode = noticed === verdicts.length ? 0 : 1

async function breakInTurn(tree: string): Promise<void> {
  for (const mutant of waiting) {
    const verdict = await verdictOn(tree, mutant)
    verdicts.push(verdict)
    process.stdout.write(`${verdict.padEnd(11)} ${mutant.name}\n`)
  }
}

function read(tree: string, file: string): string {
  return readFileSync(join(tree, file), 'utf8')
}

function listed(): Mutant[] {
  const everywhere = allPlaces(copy)
  return Object.entries(guards).flatMap(([test, list]) =>
    list.map(([name, kind, source, within]) => {
      const places = placesOf({ kind, source, within }, everywhere)
      return { name, places, tests: [`test/${test}.test.ts`] }
    }),
  )
}

async function verdictOn(tree: string, { places, tests }: Mutant): Promise<string> {
  if (places.length === 0 || !tests.every((test) => existsSync(join(tree, test)))) return 'NOT FOUND'
  const files = [...new Set(places.map(({ file }) => file))]
  const whole = files.map((file) => [file, read(tree, file)] as const)
  const broken = whole.map(([file, text]) => {
    const here = places.filter((place) => place.file === file).sort((one, other) => other.start - one.start)
    return [
      file,
      here.reduce((now, { start, end, broken }) => now.slice(0, start) + broken + now.slice(end), text),
    ] as const
  })
  // A file that cannot even be loaded fails every test, and that proves nothing.
  if (broken.some(([file, text]) => parseSync(file, text).errors.length > 0)) return 'NO CODE'
  const put = (texts: readonly (readonly [file: string, text: string])[]) => {
    for (const [file, text] of texts) writeFileSync(join(tree, file), text)
  }
  let verdict = 'UNNOTICED'
  const bySuite = (test: string) => isOfSuite(tree, test, files)
  // Some mistakes meet a test on PostgreSQL alone, such as races. It takes longer, so it comes last.
  const again = tests.filter((test) => !bySuite(test) && /^\/\/ engine: both/.test(read(tree, test)))
  const looks = [
    ...tests.map((test) => [test, bySuite(test)] as const),
    ...again.map((test) => [test, true] as const),
  ]
  for (const look of looks) {
    put(broken)
    const result = await resultOf(tree, look)
    put(whole)
    // A test that fails even without the change proves nothing.
    if (result === 'green' || !(await isGreen(tree, look))) continue
    if (result === 'noticed') return result
    verdict = result
  }
  return verdict
}

/** A test, and whether tools/test.ts runs it, which starts PostgreSQL and builds the web app. */
type Look = readonly [test: string, bySuite: boolean]

function isOfSuite(tree: string, test: string, files: string[]): boolean {
  const needsPostgres =
    files.some((file) => file.includes('postgres')) || /^\/\/ engine: PostgreSQL/.test(read(tree, test))
  return needsPostgres || test.startsWith('test/browser/')
}

/** Whether the test passes as things are. It is asked once, as one test notices many places. */
async function isGreen(tree: string, look: Look): Promise<boolean> {
  const key = look.join()
  if (green.has(key)) return true
  const holds = (await resultOf(tree, look)) === 'green'
  if (holds) green.add(key)
  return holds
}

async function resultOf(cwd: string, [test, bySuite]: Look): Promise<'green' | 'noticed' | 'late'> {
  const args = bySuite ? ['tools/test.ts'] : ['--test', '--test-timeout=120000', '--test-reporter=tap']
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  // In a new group: the processes that it starts end with it.
  const child = spawn(process.execPath, [...args, test], {
    ...{ cwd, env, detached: true },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const end = () => child.exitCode === null && process.kill(-(child.pid as number), 'SIGKILL')
  process.once('exit', end)
  const timer = setTimeout(end, limitMilliseconds)
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const [code] = await once(child, 'close')
  clearTimeout(timer)
  process.off('exit', end)
  if (code === 0) return 'green'
  return /failureType: 'testCodeFailure'|^ *\w*Error\b/m.test(output) ? 'noticed' : 'late'
}

function copyTree(target: string): string {
  for (const entry of [
    'proof',
    'rules',
    'server',
    'test',
    'client',
    'verify',
    'witness',
    'web',
    'docs',
    'tools',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'README.md',
  ])
    cpSync(join(root, entry), join(target, entry), { recursive: true, preserveTimestamps: true })
  symlinkSync(join(root, 'node_modules'), join(target, 'node_modules'))
  return target
}
