// engine: none
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

interface Import {
  /** Names the entry of a thread by its URL. */
  isEntry: boolean
  /** A path from the root of the repository, or the name of a package. */
  target: string
  typeOnly: boolean
}

interface SourceFile {
  /** From the root of the repository: `server/orders/routes.ts`. */
  path: string
  text: string
  imports: Import[]
}

function sourceFile(path: string, text: string): SourceFile {
  const pattern =
    /^(?:import|export)\s+(type\s)?(?:[^'"]*?\sfrom\s+)?['"]([^'"]+)['"]|(import|new URL)\(\s*['"](\.[^'"]+)['"]/gm
  const imports = [...text.matchAll(pattern)].map(([, type, target = '', call, called]): Import => {
    const named = called ?? target
    return {
      target: named.startsWith('.') ? normalize(join(dirname(path), named)) : named,
      isEntry: call === 'new URL',
      typeOnly: type !== undefined,
    }
  })
  return { path, text, imports }
}

function sourceFiles(trees: string): SourceFile[] {
  return globSync(`{${trees}}/**/*.{ts,tsx}`, { cwd: root })
    .filter((path) => !/node_modules|^client\/dist/.test(path))
    .sort()
    .map((path) => sourceFile(path, readFileSync(join(root, path), 'utf8')))
}

const files = sourceFiles('proof,rules,server,client,web,verify,witness,tools')
const isServer = (path: string) => path.startsWith('server/')
const server = files.filter(({ path }) => isServer(path))

/** Where the paths of a file and its import part: two files or folders in the same folder. */
function roomsApart(path: string, target: string): [from: string, to: string] {
  const [from, to] = [path.split('/'), target.split('/')]
  const depth = 1 + from.findIndex((name, index) => name !== to[index])
  return [from.slice(0, depth).join('/'), to.slice(0, depth).join('/')]
}

/** The imports between neighbouring rooms, which are files or folders of one folder, each with an example. */
function arrowsBetweenRooms(all: SourceFile[]): Map<string, Map<string, string>> {
  const arrows = new Map<string, Map<string, string>>()
  for (const { path, imports } of all) {
    const isInTree = ({ isEntry, target }: Import) => !isEntry && target.startsWith(`${path.split('/')[0]}/`)
    for (const { target } of imports.filter(isInTree)) {
      const [from, to] = roomsApart(path, target)
      const targets = arrows.get(from) ?? new Map()
      arrows.set(from, targets.set(to, `${path} -> ${target}`))
    }
  }
  return arrows
}

/** The imports between rooms that lead back to where they start. */
function circles(all: SourceFile[]): string[] {
  const arrows = arrowsBetweenRooms(all)
  const reachedFrom = (room: string, reached = new Set<string>()): Set<string> => {
    for (const next of arrows.get(room)?.keys() ?? []) {
      if (!reached.has(next)) reachedFrom(next, reached.add(next))
    }
    return reached
  }
  return [...arrows].flatMap(([room, targets]) =>
    [...targets]
      .filter(([target]) => reachedFrom(target).has(room))
      .map(([target, example]) => `${room} -> ${target}, by ${example}`),
  )
}

/** The greatest number of rooms in a folder of which each imports the one below. */
function floors(folder: string): number {
  const arrows = arrowsBetweenRooms(files)
  const heightOf = (room: string): number =>
    1 + Math.max(0, ...[...(arrows.get(room)?.keys() ?? [])].map(heightOf))
  return Math.max(...[...arrows.keys()].filter((room) => dirname(room) === folder).map(heightOf))
}

/**
 * A slice is a folder of the server with routes. Its door, for other slices, is the file named as the folder.
 */
const slices = new Set(server.map(({ path }) => /^server\/(\w+)\/(?:.+\/)?routes(?:\.ts|\/)/.exec(path)?.[1]))
const sliceOf = (path: string) => {
  const [, folder = ''] = path.split('/')
  return isServer(path) && slices.has(folder) ? folder : undefined
}

/** Layers of a slice, by file names. Rules are files that import SQL and are neither SQL nor routes. */
const isRoutes = (path: string) => /^server\/.*\/routes(?:\.ts|\/)/.test(path)
const isSql = (path: string) => /^server\/.*\/(?:store|sqlite|postgres|query|statement|tally)\.ts$/.test(path)
const rules = server
  .filter(
    ({ path, imports }) => !isRoutes(path) && !isSql(path) && imports.some(({ target }) => isSql(target)),
  )
  .map(({ path }) => path)

/** proof/ says what a log is and how anyone checks it, rules/ what server and browser both judge. */
const ground = ['proof', 'rules']
/** The parts that stand on the ground. They meet only there. */
const houses = ['server', 'client', 'web', 'verify', 'witness']
const houseOf = (path: string) => path.split('/')[0] ?? ''
/** The only imports from one house to another. */
const isDoorBetween = (from: string, target: string) =>
  (houseOf(from) === 'web' && houseOf(target) === 'client') ||
  (isServer(from) && ['web/build.ts', 'web/dist', 'web/unbuilt'].includes(target)) ||
  // A program that the other runs.
  (from === 'web/bundle.ts' && target === 'verify/build.ts')

const registry = 'server/operations.ts'
const isList = (path: string) => /^server\/\w+\/operations\.ts$/.test(path)
const listing = new Set(server.filter(({ path }) => isList(path)).map(({ path }) => dirname(path)))

/** The fault in a single import. */
function breachOf(from: string, target: string): string | undefined {
  const [house, of] = [houseOf(from), houseOf(target)]
  if (ground.includes(house)) {
    return of === house ? undefined : 'the ground imports nothing of the project, of Node or of a browser'
  }
  if (house === 'client' && ![...ground, 'client'].includes(of)) return 'the client has no dependencies'
  if (houses.includes(house) && houses.includes(of) && house !== of && !isDoorBetween(from, target)) {
    return 'server, client, web, verify and witness meet only in proof/ and rules/'
  }
  if (!isServer(from)) return undefined
  const ofDatabase = (path: string) => path.startsWith('server/db/') || path === 'server/version.ts'
  if (from.startsWith('server/db/') && !ofDatabase(target) && isServer(target)) {
    return 'db imports only db, and the version'
  }
  if (isList(target) && from !== registry) return 'only the registry imports what a slice lists'
  const [, folder = ''] = target.split('/')
  if (from === registry && listing.has(`server/${folder}`)) {
    return isList(target) || target === `server/${folder}/${folder}.ts`
      ? undefined
      : 'the registry imports of a slice only its list and its door'
  }
  const [own, other] = [sliceOf(from), sliceOf(target)]
  const isForeign = own !== undefined && other !== undefined && own !== other
  if (isForeign && target !== `server/${other}/${other}.ts`) {
    return 'a slice imports of another slice only its door'
  }
  if (own !== undefined && isRoutes(target) && !isRoutes(from)) return 'in a slice only routes import routes'
  if (isSql(from) && rules.includes(target)) return 'SQL imports rules'
  return undefined
}

function breaches(all: SourceFile[]): string[] {
  return all.flatMap(({ path, imports }) =>
    imports.flatMap(({ target }) => {
      const breach = breachOf(path, target)
      return breach === undefined ? [] : [`${path} -> ${target}: ${breach}`]
    }),
  )
}

describe('imports', () => {
  it('have no circle of files or folders, types included', () => {
    assert.deepEqual(circles([...files, ...sourceFiles('bench,test')]), [])
  })

  it('enter a slice only through its door, and cross packages only where allowed', () => {
    assert.deepEqual(breaches(files), [])
  })

  it('are reported when they go the wrong way', () => {
    const seeds: [path: string, text: string][] = [
      ['server/orders/life/store.ts', "import { x } from './life.ts'"],
      ['server/orders/store.ts', "import type { X } from './routes.ts'"],
      ['server/orders/orders.ts', "import { registerOrders } from './routes.ts'"],
      ['server/orders/export/export.ts', "import { registerOverview } from '../overview/routes.ts'"],
      ['server/orders/routes.ts', "import { hasAccounts } from '../auth/accounts/store.ts'"],
      ['server/audit/lines/log.ts', "import {\n  findOrder,\n} from '../../orders/store.ts'"],
      ['server/orders/filter/parser.ts', "import { listOrders } from '../list/list.ts'"],
      ['server/orders/orders.ts', "import type { operations } from '../operations.ts'"],
      ['server/orders/routes.ts', "import { writes } from './operations.ts'"],
      ['server/serve.ts', "import { mailKinds } from './auth/operations.ts'"],
      ['server/operations.ts', "import { sentMails } from './mail/store.ts'"],
      ['server/http/health.ts', "import { findOrder } from '../orders/store.ts'"],
      ['server/http/health.ts', "import { operations } from '../operations.ts'"],
      ['server/db/sqlite/open.ts', "import { Problem } from '../../http/problems.ts'"],
      ['server/db/open.ts', "const m = await import('../orders/store.ts')"],
      ['server/db/open.ts', "import { systemClock } from '../clock.ts'"],
      ['server/auth/guard.ts', "import { buildApp } from '../app.ts'"],
      ['server/caller/principal.ts', "import type { App } from '../http/route.ts'"],
      ['server/app.ts', "import { serve } from './serve.ts'"],
      ['server/http/route.ts', "import { runCommandLine } from '../cli/run.ts'"],
      ['server/http/spa.ts', "export * from '../../web/src/main.tsx'"],
      ['web/src/main.tsx', "import type { Order } from '../../server/orders/order.ts'"],
      ['web/src/main.tsx', "import { x } from '../../verify/check.ts'"],
      ['verify/main.ts', "import { LogLine } from '../server/audit/events/line.ts'"],
      ['verify/main.ts', "import { formatTotal } from '../web/src/ui/format.ts'"],
      ['verify/main.ts', "import { problemOf } from '../client/src/problem.ts'"],
      ['witness/witness.ts', "import { systemClock } from '../server/clock.ts'"],
      ['server/cli/run.ts', "import { listen } from '../../witness/listen.ts'"],
      ['server/audit/sealing/sealing.ts', "import { linesOf } from '../../../client/src/lines.ts'"],
      ['proof/line.ts', "import { cell } from '../rules/cell.ts'"],
      ['proof/line.ts', "import { createHash } from 'node:crypto'"],
      ['rules/lexer.ts', "import type { Order } from '../server/orders/order.ts'"],
      ['web/src/ui/button.tsx', "import { x } from '../orders/create/create.tsx'"],
      ['client/src/client.ts', "import { facts } from '../../web/src/orders/fields.ts'"],
      ['client/src/client.ts', "import { SignJWT } from 'jose'"],
      ['tools/guards/places.ts', "import '../guards.ts'"],
    ]
    const found = (all: SourceFile[]) => circles(all).length + breaches(all).length
    const before = found(files)
    for (const [path, text] of seeds) {
      assert.ok(found([...files, sourceFile(path, text)]) > before, `${path}: ${text}`)
    }
    const circle = ['a/x', 'b/y', 'a/z'].map((name, index, names) =>
      sourceFile(`tools/${name}.ts`, `import type { T } from '../${names[index + 1] ?? 'c'}.ts'`),
    )
    assert.deepEqual(circles(circle), [
      'tools/a -> tools/b, by tools/a/x.ts -> tools/b/y.ts',
      'tools/b -> tools/a, by tools/b/y.ts -> tools/a/z.ts',
    ])
  })

  it('are not reported when they go the right way', () => {
    const seeds: [path: string, text: string][] = [
      ['server/orders/routes.ts', "import { findOrder } from './store.ts'"],
      ['server/orders/routes.ts', "import type { Principal } from '../principal.ts'"],
      ['server/orders/list/list.ts', "import type { AppDatabase } from '../../db/port.ts'"],
      ['server/orders/orders.ts', "import { recordEvent } from '../audit/audit.ts'"],
      ['server/cli/users.ts', "import { addUser } from '../auth/accounts/accounts.ts'"],
    ]
    for (const [path, text] of seeds)
      assert.deepEqual(breaches([sourceFile(path, text)]), [], `${path}: ${text}`)
  })

  it('are all found, and lead to files that exist', () => {
    const targets = files.flatMap(({ imports }) => imports.map(({ target }) => target))
    const ofFiles = targets.filter((target) =>
      /^(?:proof|rules|server|client|web|verify|witness|tools)\/.*\.tsx?$/.test(target),
    )
    const written = files.flatMap(({ text }) => text.match(/ from '\.\.?\/.*\.tsx?'/g) ?? [])
    assert.ok(written.length > 1_000)
    assert.ok(ofFiles.length >= written.length, `${ofFiles.length} of ${written.length}`)
    assert.deepEqual(new Set(ofFiles).difference(new Set(files.map(({ path }) => path))), new Set())
  })

  it('name no development dependency', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const isPackage = ({ target, typeOnly }: Import) =>
      !typeOnly && !/^(?:node:|proof\/|rules\/|server\/|web\/|docs\/|#kysely$|package\.json$)/.test(target)
    const packages = [...server, ...files.filter(({ path }) => ground.includes(houseOf(path)))].flatMap(
      ({ imports }) => imports.filter(isPackage),
    )
    const names = packages.map(({ target }) => String(/^(?:@[^/]+\/)?[^/]+/.exec(target)?.[0]))
    assert.ok(names.length > 15, String(names.length))
    assert.deepEqual(new Set(names).difference(new Set(Object.keys(dependencies))), new Set())
  })

  it('import Kysely in one file, because each thread would load 255 others otherwise', () => {
    const naming = files
      .filter(({ path, text }) => !path.startsWith('tools/') && text.includes("'kysely'"))
      .map(({ path }) => path)
    assert.deepEqual(naming, ['server/db/kysely.ts'])
  })

  it('do not load fetch at startup, as a value import of node:http would', () => {
    const start = "await import('./server/serve.ts'); await import('./server/app.ts')"
    const loaded = execFileSync(
      process.execPath,
      ['--input-type=module', '-e', `${start}; console.log(process.moduleLoadList.join('\\n'))`],
      { cwd: root, encoding: 'utf8' },
    ).split('\n')
    assert.ok(loaded.includes('NativeModule http'))
    const strays = loaded.filter((name) => name.includes('undici'))
    assert.deepEqual(strays, [])
  })

  it('load no package that writes answers in a thread, nor in a command', () => {
    const imported = "await import('./server/operations.ts'); await import('./server/db/open.ts')"
    const start = `${imported}; const { Module } = await import('node:module')`
    const loaded = execFileSync(
      process.execPath,
      ['--input-type=module', '-e', `${start}; console.log(Object.keys(Module._cache).join('\\n'))`],
      { cwd: root, encoding: 'utf8' },
    )
    assert.match(loaded, /better-sqlite3/)
    assert.doesNotMatch(loaded, /fast-json-stringify/)
  })

  it('pass through at most five layers of db/ and of orders/', () => {
    assert.ok(Math.max(floors('server/db'), floors('server/orders')) <= 5)
  })
})

/** Files outside db/ where the name of an engine is text for people, or names a thread. */
const namesEngines = [
  'server/config.ts',
  'server/cli/catalogue/service.ts',
  'server/reader.ts',
  'server/writer.ts',
]

/**
 * Whether code, comments aside, names an engine other than to choose between two modules named after both.
 */
function namesEngine({ path, text }: Pick<SourceFile, 'path' | 'text'>): boolean {
  if (path.startsWith('server/db/') || namesEngines.includes(path)) return false
  if (/\/(?:sqlite|postgres)\.ts$/.test(path)) return false
  const code = text
    .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
    .replaceAll(/^import .* from '.*'$/gm, '')
    .replaceAll(/ofEngine\(\w+, \{ sqlite, postgres \}\)/g, '')
  return /sqlite|postgres/i.test(code)
}

describe('the engines', () => {
  it('are named only in files with their names, and in db/', () => {
    const found = server.filter(namesEngine).map(({ path }) => path)
    assert.deepEqual(found, [])
  })

  it('are reported anywhere else', () => {
    for (const text of ["if (engine === 'sqlite')", 'const isPostgres = true', 'ofEngine(db, { sqlite })']) {
      assert.ok(namesEngine({ path: 'server/orders/store.ts', text }), text)
    }
  })

  it('have files of the same names in db/ for the same jobs', () => {
    const of = (engine: string) =>
      globSync(`server/db/${engine}/*.ts`, { cwd: root }).map((path) => path.split('/').at(-1))
    const shared = of('sqlite').filter((name) => of('postgres').includes(name))
    assert.deepEqual(shared.toSorted(), ['driver.ts', 'open.ts', 'reads.ts', 'schema.ts', 'writes.ts'])
  })
})

/** Reads the time of day, or makes identifiers without it. */
const ambient =
  /\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\s*\)|\bMath\.random\b|\brandomUUID\b|\bTemporal\.Now\b/

describe('time and randomness under server/', () => {
  it('are read only in clock.ts', () => {
    const readers = server.filter(({ text }) => ambient.test(text)).map(({ path }) => path)
    assert.deepEqual(readers, ['server/clock.ts'])
  })

  it('are reported anywhere else', () => {
    const uuid = 'crypto.randomUUID()'
    const texts = ['Date.now()', 'new Date()', 'new Date( )', 'Math.random()', uuid, 'Temporal.Now.instant()']
    for (const text of texts) assert.match(text, ambient)
    assert.doesNotMatch('new Date(at)', ambient)
  })
})
