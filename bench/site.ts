import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openAppDatabase } from '../server/operations.ts'
import { runSql } from '../test/support/postgres.ts'
import { type Callers, makeCallers } from './callers.ts'
import { dataFolder, seed, sqliteCopy } from './data.ts'
import { choosePaths, type Paths } from './paths.ts'
import { fileOf, MeasuredServer } from './server.ts'

const publicUrl = 'https://orders.example.com'
const main = fileOf('../server/main.ts')

/** A database with its orders and callers, and how to start what serves it. */
export interface Site {
  orders: number
  databaseUrl: string
  folder: string
  env: Record<string, string>
  callers: Callers
  paths: Paths
  close(): Promise<void>
}

/** Folder and keys of one run. */
export interface Workplace {
  folder: string
  keyEnv: Record<string, string>
  remove(): void
}

export function prepareWorkplace(): Workplace {
  mkdirSync(dataFolder, { recursive: true })
  const folder = mkdtempSync(join(dataFolder, 'run-'))
  const file = join(folder, 'signing.pem')
  const logFile = join(folder, 'log.pem')
  const inPem = {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  } as const
  const signing = generateKeyPairSync('rsa', { modulusLength: 2048, ...inPem })
  writeFileSync(file, signing.privateKey, { mode: 0o600 })
  writeFileSync(logFile, generateKeyPairSync('ed25519', inPem).privateKey, { mode: 0o600 })
  const keyEnv = {
    SIGNING_KEY_FILES: file,
    LOG_KEY_FILES: logFile,
    ANTIFORGERY_KEY: randomBytes(32).toString('base64'),
  }
  return { folder, keyEnv, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

export async function sqliteSite(
  workplace: Workplace,
  orders: number,
  name: string,
  userCount = 100,
): Promise<Site> {
  const databaseUrl = await sqliteCopy(orders, join(workplace.folder, `${name}.db`))
  return makeSite(workplace, databaseUrl, orders, userCount)
}

export async function postgresSite(workplace: Workplace, orders: number, url: string): Promise<Site> {
  await seed(url, orders)
  // Does what autovacuum does within a minute.
  await runSql(url, 'vacuum analyze orders')
  return makeSite(workplace, url, orders)
}

export async function makeSite(
  { folder, keyEnv }: Workplace,
  databaseUrl: string,
  orders: number,
  userCount = 100,
): Promise<Site> {
  const signingKeyFile = keyEnv.SIGNING_KEY_FILES ?? ''
  const db = await openAppDatabase({ databaseUrl, poolSize: 2 })
  const paths = await choosePaths(db.read, orders)
  const callers = await makeCallers({ db, publicUrl, signingKeyFile, userCount })
  const env = {
    ...keyEnv,
    HOST: '127.0.0.1',
    PUBLIC_URL: publicUrl,
    DATABASE_URL: databaseUrl,
    // The limits are on and count everything, but are never reached.
    RATE_LIMIT_FACTOR: '1000000',
  }
  return { orders, databaseUrl, folder, env, callers, paths, close: () => db.close() }
}

/** The same as in the systemd unit of docs/operations.md. */
const nodeFlags = ['--max-semi-space-size=8']
const environment = {
  NODE_ENV: 'production',
  MALLOC_ARENA_MAX: '2',
  NODE_COMPILE_CACHE: join(dataFolder, 'compile-cache'),
}

/** The service as an operator starts it, in production mode. */
export async function startService(
  { folder, env }: Site,
  { probe = true, launcher = [] }: { probe?: boolean; launcher?: string[] } = {},
): Promise<MeasuredServer> {
  const args = [...nodeFlags, main, 'serve']
  return MeasuredServer.start({
    args,
    env: { ...environment, ...env },
    folder,
    readyPath: '/health/ready',
    probe,
    launcher,
  })
}

export function startBaseline({ folder, env }: Site, name: 'by-hand' | 'static'): Promise<MeasuredServer> {
  const args = [fileOf(`./baselines/${name}.ts`)]
  return MeasuredServer.start({ args, env, folder, readyPath: '/health' })
}
