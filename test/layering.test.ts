// engine: none
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

interface SourceFile {
  /** From the root of the repository, as `server/orders/routes.ts`. */
  path: string
  text: string
}

interface Import {
  /** Written as a call: taken when it is needed, and so no part of a circle. */
  dynamic: boolean
  /** What is imported: a path like that of a file, or the name of a package. */
  target: string
  typeOnly: boolean
}

function sourceFiles(folder: string): SourceFile[] {
  return globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root })
    .filter((path) => !path.includes('node_modules'))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

function importsOf({ path, text }: SourceFile): Import[] {
  const pattern =
    /^(?:import|export)\s+(type\s)?(?:[^'"]*?\sfrom\s+)?['"]([^'"]+)['"]|(?:import|new URL)\(\s*['"](\.[^'"]+)['"]/gm
  return [...text.matchAll(pattern)].map(([, type, target = '', dynamic]) => {
    const named = dynamic ?? target
    const isFile = named.startsWith('.')
    return {
      target: isFile ? normalize(join(dirname(path), named)) : named,
      dynamic: dynamic !== undefined,
      typeOnly: type !== undefined,
    }
  })
}

/** From the top down. The domain is what a slice's rules and its SQL both speak of; http, clock, ids and config have no place. */
const layers = ['top', 'app', 'routes', 'rules', 'store', 'domain', 'db'] as const
type Layer = (typeof layers)[number]

const domainFiles =
  /^server\/(?:orders\/(?:order|event|fold|list\/plan)|audit\/(?:canonical|chain|event))\.ts$|^server\/orders\/filter\//
const slices = ['auth', 'orders', 'audit'] as const
/** The files that stand beside the slices. */
const topFiles = /^server\/(?:main|serve|metrics|upkeep)\.ts$|^server\/cli\//
/** The log of what happens, of which every slice makes use. */
const sharedBySlices = [
  ...['event', 'events', 'seal', 'stamp', 'statements', 'chain'].map((name) => `server/audit/${name}.ts`),
]
/** The registry brings the slices together for the database: it stands over them, its types below them. */
const registryFiles = /^server\/(?:operations|writer|reader|demo\/\w+)\.ts$/

function layerOf(path: string): Layer | undefined {
  if (topFiles.test(path)) return 'top'
  if (path === 'server/app.ts') return 'app'
  if (path.startsWith('server/db/')) return 'db'
  if (domainFiles.test(path)) return 'domain'
  if (path.startsWith('server/http/') || sharedBySlices.includes(path)) return undefined
  const [, slice, file = ''] = /^server\/(\w+)\/(.+)\.ts$/.exec(path) ?? []
  if (slice === undefined) return undefined
  if (/(?:^|\/)routes(?:$|\/)/.test(file)) return 'routes'
  if (/(?:^|\/)(?:store|sqlite|postgres|query|statement|tally)$/.test(file)) return 'store'
  return 'rules'
}

const sliceOf = (path: string) => slices.find((slice) => path.startsWith(`server/${slice}/`))
const isServer = (path: string) => path.startsWith('server/')

/** The lexer of the filter language and the rules of a new password, which server and web app must not have two of. */
const sharedWithWeb = ['server/orders/filter/lexer.ts', 'server/auth/credentials/passwords/new-password.ts']

/** What is wrong with one import of one file, if anything. */
function breachOf(from: string, { target, typeOnly }: Import): string | undefined {
  if (from.startsWith('client/')) {
    return target.startsWith('client/') ? undefined : 'the client is a package: it imports nothing but itself'
  }
  if (from.startsWith('web/')) {
    const isOther = isServer(target) && !sharedWithWeb.includes(target)
    return isOther ? 'web imports nothing of server but what is shared' : undefined
  }
  if (!isServer(target)) return target.startsWith('web/src') ? 'server imports nothing of web' : undefined
  if (typeOnly && registryFiles.test(target)) return undefined
  if (from.startsWith('server/db/') && !target.startsWith('server/db/')) return 'db imports nothing but db'
  const [own, other] = [sliceOf(from), sliceOf(target)]
  const isForeign = other !== undefined && own !== other && !sharedBySlices.includes(target)
  if (own !== undefined && isForeign) return 'a slice imports nothing of another slice'
  if (from.startsWith('server/http/')) {
    if (isForeign) return 'http imports no slice'
    if (registryFiles.test(target)) return 'http imports of the registry its types only'
  }
  if (own !== undefined && registryFiles.test(target)) return 'a slice imports of the registry its types only'
  const [fromLayer, targetLayer] = [layerOf(from), layerOf(target)]
  if (targetLayer === 'top' && fromLayer !== 'top') return 'nothing imports main, serve or cli'
  if (targetLayer === 'app' && fromLayer !== 'top') return 'only main, serve and cli import app'
  if (fromLayer === undefined || targetLayer === undefined) return undefined
  const isUpward = layers.indexOf(fromLayer) > layers.indexOf(targetLayer)
  return isUpward ? `${fromLayer} imports ${targetLayer}` : undefined
}

function breaches(files: SourceFile[]): string[] {
  return files.flatMap((file) =>
    importsOf(file).flatMap((each) => {
      const breach = breachOf(file.path, each)
      return breach === undefined ? [] : [`${file.path} -> ${each.target}: ${breach}`]
    }),
  )
}

/** Files that import each other in a circle, by values or by types. */
function cycles(files: SourceFile[]): string[] {
  const importsOfPath = new Map(
    files.map((file) => [file.path, importsOf(file).filter(({ dynamic }) => !dynamic)]),
  )
  const done = new Set<string>()
  const found: string[] = []
  const visit = (path: string, trail: string[]): void => {
    if (trail.includes(path)) found.push([...trail.slice(trail.indexOf(path)), path].join(' -> '))
    if (done.has(path) || trail.includes(path)) return
    for (const { target } of importsOfPath.get(path) ?? []) visit(target, [...trail, path])
    done.add(path)
  }
  for (const path of importsOfPath.keys()) visit(path, [])
  return found
}

/** How many rooms of the folder one has to go down, at most, by any kind of import. A room is a file unless told. */
function floors(files: SourceFile[], folder: string, roomOf = (path: string) => path): number {
  const inside = files.filter(({ path }) => path.startsWith(folder))
  const below = new Map<string, Set<string>>()
  for (const file of inside) {
    const targets = importsOf(file).map(({ target }) => target)
    const rooms = targets.filter((target) => target.startsWith(folder)).map(roomOf)
    const room = roomOf(file.path)
    below.set(room, new Set([...(below.get(room) ?? []), ...rooms.filter((other) => other !== room)]))
  }
  const heights = new Map<string, number>()
  const heightOf = (room: string): number => {
    const height = heights.get(room) ?? 1 + Math.max(0, ...[...(below.get(room) ?? [])].map(heightOf))
    heights.set(room, height)
    return height
  }
  return Math.max(...[...below.keys()].map(heightOf))
}

/** Readers of the time of day, and of randomness for identifiers. */
const ambient =
  /\bDate\.now\b|\bnew Date\(\s*\)|\bDate\(\s*\)|\bMath\.random\b|\brandomUUID\b|\bTemporal\.Now\b/
const allowedAmbient: Record<string, string> = {
  'server/clock.ts': 'the only reader of the time of day',
  'server/ids.ts': 'the only maker of random identifiers',
}

function ambientReaders(files: SourceFile[]): string[] {
  const isReader = ({ path, text }: SourceFile) => ambient.test(text) && !(path in allowedAmbient)
  return files.filter(isReader).map(({ path }) => path)
}

const trees = { server: sourceFiles('server'), client: sourceFiles('client/src'), web: sourceFiles('web') }
const { server } = trees

for (const [name, files] of Object.entries(trees)) {
  describe(`the imports under ${name}/`, () => {
    it('go one way: main, serve, cli -> app -> routes -> rules -> store -> db; client and web take what they may', () => {
      assert.ok(files.length > 5)
      assert.deepEqual(breaches(files), [])
    })

    it('make no circle, types included', () => {
      assert.deepEqual(cycles(files), [])
    })
  })
}

describe('imports', () => {
  it('are all found', () => {
    assert.ok(server.length > 60)
    const count = server.flatMap(importsOf).filter(({ target }) => isServer(target)).length
    assert.ok(count > 200, String(count))
    const written = server
      .map(({ text }) => text.match(/ from '\.\.?\//g)?.length ?? 0)
      .reduce((a, b) => a + b)
    assert.ok(count >= written, `${count} of ${written}`)
  })

  it('lead to files that exist', () => {
    const paths = new Set(server.map(({ path }) => path))
    const missing = server
      .flatMap(importsOf)
      .map(({ target }) => target)
      .filter((target) => isServer(target) && target.endsWith('.ts') && !paths.has(target))
    assert.deepEqual(missing, [])
  })

  it('name no package that only development installs', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const installed = new Set(Object.keys(dependencies))
    const isPackage = ({ target, typeOnly }: Import) =>
      !typeOnly && !/^(?:node:|server\/|web\/|#kysely$|package\.json$)/.test(target)
    const packages = server.flatMap(importsOf).filter(isPackage)
    const names = packages.map(({ target }) => String(/^(?:@[^/]+\/)?[^/]+/.exec(target)?.[0]))
    assert.ok(names.length > 15, String(names.length))
    assert.deepEqual(new Set(names).difference(installed), new Set())
  })

  it('name Kysely in one file, for each thread would load its 255 others', () => {
    const naming = Object.values(trees)
      .flat()
      .filter(({ text }) => text.includes("'kysely'"))
    assert.deepEqual(
      naming.map(({ path }) => path),
      ['server/db/kysely.ts'],
    )
  })

  it('load no fetch at a start: a value import of node:http does', () => {
    const start = "await import('./server/serve.ts'); await import('./server/app.ts')"
    const loaded = execFileSync(
      process.execPath,
      ['--input-type=module', '-e', `${start}; console.log(process.moduleLoadList.join('\\n'))`],
      { cwd: root, encoding: 'utf8' },
    ).split('\n')
    assert.ok(loaded.includes('NativeModule http'))
    assert.deepEqual(
      loaded.filter((name) => name.includes('undici')),
      [],
    )
  })

  it('that server and web app share import nothing', () => {
    const shared = server.filter(({ path }) => sharedWithWeb.includes(path))
    assert.deepEqual(shared.map(importsOf), [[], []])
  })

  it('go down five floors of db/ at most, and of orders/, where a folder is one room', () => {
    const roomOf = (path: string) => path.split('/').slice(0, 3).join('/')
    assert.equal(floors(server, 'server/db/'), 5)
    assert.equal(floors(server, 'server/orders/', roomOf), 5)
  })

  it('are seen when they go the wrong way', () => {
    const seeds: [string, string][] = [
      ['server/orders/store.ts', "import { x } from './orders.ts'"],
      ['server/orders/store.ts', "import type { X } from './routes.ts'"],
      ['server/orders/orders.ts', "import { registerOrders } from './routes.ts'"],
      ['server/orders/routes.ts', "import { findSession } from '../auth/credentials/sessions/store.ts'"],
      ['server/orders/routes.ts', "import { registerSessions } from '../auth/routes/sessions.ts'"],
      ['server/auth/login.ts', "import {\n  findOrder,\n} from '../orders/store.ts'"],
      ['server/orders/filter/compile.ts', "import { findOrder } from '../store.ts'"],
      ['server/orders/orders.ts', "import { operations } from '../operations.ts'"],
      ['server/http/health.ts', "import { findOrder } from '../orders/store.ts'"],
      ['server/http/health.ts', "import { operations } from '../operations.ts'"],
      ['server/db/sqlite/open.ts', "import { Problem } from '../../http/problems.ts'"],
      ['server/db/open.ts', "const m = await import('../orders/store.ts')"],
      ['server/auth/credentials/tokens/keys.ts', "import { buildApp } from '../../../app.ts'"],
      ['server/app.ts', "import { serve } from './serve.ts'"],
      ['server/http/route.ts', "import { runCommandLine } from '../cli/run.ts'"],
      ['web/src/main.tsx', "import type { Order } from '../../server/orders/order.ts'"],
      ['server/http/spa.ts', "export * from '../../web/src/main.tsx'"],
      ['client/src/client.ts', "import { facts } from '../../web/src/orders/fields.ts'"],
      ['client/src/client.ts', "import { SignJWT } from 'jose'"],
    ]
    for (const [path, text] of seeds) assert.equal(breaches([{ path, text }]).length, 1, `${path}: ${text}`)
    const circle = [
      { path: 'server/a.ts', text: "import { b } from './b.ts'" },
      { path: 'server/b.ts', text: "import { a } from './a.ts'" },
    ]
    assert.equal(cycles(circle).length, 1)
    const ofTypes = circle.map(({ path, text }) => ({ path, text: text.replace('import', 'import type') }))
    assert.equal(cycles(ofTypes).length, 1)
    const stairs = [
      { path: 'server/db/a.ts', text: "await import('./b.ts')" },
      { path: 'server/db/b.ts', text: '' },
    ]
    assert.equal(floors(stairs, 'server/db/'), 2)
  })

  it('are not taken for breaches when they go the right way', () => {
    const seeds: [string, string][] = [
      ['server/orders/routes.ts', "import { findOrder } from './store.ts'"],
      ['server/orders/routes.ts', "import type { Principal } from '../principal.ts'"],
      ['server/orders/list/list.ts', "import type { AppDatabase } from '../../db/port.ts'"],
      ['server/orders/store.ts', "import type { Database } from '../db/tables.ts'"],
      ['server/cli/users.ts', "import { addUser } from '../auth/accounts/accounts.ts'"],
      ['server/http/openapi.ts', "import { permissions } from '../permissions.ts'"],
    ]
    for (const [path, text] of seeds) assert.deepEqual(breaches([{ path, text }]), [], `${path}: ${text}`)
  })
})

/** Files outside of db/ in which the name of an engine is a word for people, or of the thread that they begin. */
const namesEngines = ['server/config.ts', 'server/cli/catalogue.ts', 'server/reader.ts', 'server/writer.ts']

/** Whether code, not a comment, names an engine, other than to choose between two modules that are called by it. */
function namesEngine({ path, text }: SourceFile): boolean {
  if (path.startsWith('server/db/') || namesEngines.includes(path)) return false
  if (/\/(?:sqlite|postgres)\.ts$/.test(path)) return false
  const code = text
    .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
    .replaceAll(/^import .* from '.*'$/gm, '')
    .replaceAll(/ofEngine\(\w+, \{ sqlite, postgres \}\)/g, '')
  return /sqlite|postgres/i.test(code)
}

describe('the engines', () => {
  it('are named by the files that are called by them, and by db/', () => {
    const found = server.filter(namesEngine).map(({ path }) => path)
    assert.deepEqual(found, [])
  })

  it('are noticed elsewhere', () => {
    for (const text of ["if (engine === 'sqlite')", 'const isPostgres = true', 'ofEngine(db, { sqlite })']) {
      assert.ok(namesEngine({ path: 'server/orders/store.ts', text }), text)
    }
  })

  it('have files of the same names in db/ where they do the same', () => {
    const of = (engine: string) =>
      globSync(`server/db/${engine}/*.ts`, { cwd: root }).map((path) => path.split('/').at(-1))
    const shared = of('sqlite').filter((name) => of('postgres').includes(name))
    assert.deepEqual(shared.toSorted(), ['driver.ts', 'open.ts', 'reads.ts', 'schema.ts', 'writes.ts'])
  })
})

describe('time and randomness under server/', () => {
  it('come from clock.ts and ids.ts alone', () => {
    assert.deepEqual(ambientReaders(server), [])
  })

  it('are allowed only where they are read', () => {
    const paths = server.map(({ path }) => path)
    for (const path of Object.keys(allowedAmbient)) assert.ok(paths.includes(path), path)
  })

  it('are seen where they do not belong', () => {
    const path = 'server/orders/orders.ts'
    const uuid = 'crypto.randomUUID()'
    for (const text of [
      'Date.now()',
      'new Date()',
      'new Date( )',
      'Math.random()',
      uuid,
      'Temporal.Now.instant()',
    ]) {
      assert.deepEqual(ambientReaders([{ path, text }]), [path], text)
    }
    assert.deepEqual(ambientReaders([{ path, text: 'new Date(at)' }]), [])
  })
})

describe('decisions', () => {
  const numbers = globSync('docs/decisions/*.md', { cwd: root }).map((path) => Number(path.match(/\d+/)?.[0]))

  it('are numbered in a row, each number once', () => {
    const inARow = numbers.map((_, index) => index + 1)
    assert.deepEqual(new Set(numbers), new Set(inARow))
  })
})
