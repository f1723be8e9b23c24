import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'vite'
import { buildWebIfStale } from '../web/build.ts'
import { guards } from './guards/list.ts'
import { allPlaces, type Place, placesOf } from './guards/places.ts'

/**
 * Breaks the service in one way at a time, each in a private copy of the tree, and runs the tests that have
 * to notice. The ways are those of tools/guards/list.ts, or with `random 30 x` thirty places of server/ that
 * follow from x. Fails when no test noticed, or when a guard no longer exists.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const [mode, count, seed = String(Date.now())] = process.argv.slice(2)
/** For one test file. Without a limit, a test that waits for a refusal could wait forever. */
const limitMilliseconds = 300_000

/** Which tests belong to a folder of server/. For all other folders, the tests of the whole service. */
const testFolders: Record<string, string> = {
  auth: 'auth,security,contract,cli',
  cli: 'cli,contract',
  db: 'db,orders,faults,cli',
  http: 'http,contract,security',
  orders: 'orders,contract,fuzz',
}

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
const everywhere = allPlaces(copy)
const waiting = (mode === 'random' ? drawn() : listed()).values()
const verdicts: string[] = []
await Promise.all(trees.map(breakInTurn))
const noticed = verdicts.filter((verdict) => verdict === 'noticed').length
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

function listed(): Mutant[] {
  return Object.entries(guards).flatMap(([test, list]) =>
    list.map(([name, kind, source, within]) => {
      const places = placesOf({ kind, source, within }, everywhere)
      return { name, places, tests: [`test/${test}.test.ts`] }
    }),
  )
}

/** Half of the places refuse or throw. Each is tested by the tests of its folder. */
function drawn(): Mutant[] {
  const code = everywhere.filter(({ kind }) => kind !== 'text' && kind !== 'property')
  const refuses = (place: Place) => place.kind === 'throw' || /refus|error|cause|Problem/i.test(place.source)
  const halves = [code.filter(refuses), code.filter((place) => !refuses(place))] as const
  return Array.from({ length: Number(count) }, (_, index) => {
    const half = halves[index % 2 === 0 ? 0 : 1]
    const digest = createHash('sha256').update(`${seed} ${index}`).digest()
    const place = half[digest.readUInt32BE() % half.length] as Place
    const [, area = ''] = place.file.split('/')
    const tests = globSync(`test/{${testFolders[area] ?? 'http,contract,cli'}}/*.test.ts`, { cwd: copy })
    const line = readFileSync(join(copy, place.file), 'utf8').slice(0, place.start).split('\n').length
    const words = place.source.replaceAll(/\s+/g, ' ').slice(0, 70)
    return { name: `${place.file}:${line} ${place.kind} ${words}`, places: [place], tests }
  })
}

async function verdictOn(tree: string, { places, tests }: Mutant): Promise<string> {
  if (places.length === 0 || !tests.every((test) => existsSync(join(tree, test)))) return 'NOT FOUND'
  const files = [...new Set(places.map(({ file }) => file))]
  const whole = files.map((file) => [file, readFileSync(join(tree, file), 'utf8')] as const)
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
  for (const test of tests) {
    put(broken)
    const isGreenBroken = await isGreen(tree, test, files)
    put(whole)
    // A test that fails even without the change proves nothing.
    if (!isGreenBroken && (await isGreen(tree, test, files))) return 'noticed'
  }
  return 'UNNOTICED'
}

/** A test that needs PostgreSQL is run by tools/test.ts, which starts a server. */
function isGreen(tree: string, test: string, files: string[]): Promise<boolean> {
  const isOfPostgres = files.some((file) => file.includes('postgres'))
  return succeeds(tree, [...(isOfPostgres ? ['tools/test.ts'] : ['--test', '--test-timeout=120000']), test])
}

async function succeeds(cwd: string, args: string[]): Promise<boolean> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  // In a new group: the processes that it starts end with it.
  const child = spawn(process.execPath, args, { cwd, env, stdio: 'ignore', detached: true })
  const end = () => child.exitCode === null && process.kill(-(child.pid as number), 'SIGKILL')
  process.once('exit', end)
  const timer = setTimeout(end, limitMilliseconds)
  const [code] = await once(child, 'close')
  clearTimeout(timer)
  process.off('exit', end)
  return code === 0
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
    'README.md',
  ])
    cpSync(join(root, entry), join(target, entry), { recursive: true, preserveTimestamps: true })
  symlinkSync(join(root, 'node_modules'), join(target, 'node_modules'))
  return target
}
