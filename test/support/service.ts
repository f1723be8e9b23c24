import { createPrivateKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildApp } from '../../server/app.ts'
import { type SigningKeys, signingKeysOf } from '../../server/auth/credentials/tokens/keys.ts'
import { type Config, readConfig } from '../../server/config.ts'
import type { AppDatabase } from '../../server/db/port.ts'
import { demoAccounts, demoClient, prepareDemo, type SeedDemoInput } from '../../server/demo/demo.ts'
import type { Readiness } from '../../server/http/health.ts'
import type { App } from '../../server/http/route.ts'
import { makeLog } from '../../server/log.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { hashOf } from './accounts.ts'
import { Client } from './client.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { assertDiscreet, noteSecret, watchServer } from './discretion.ts'
import { startServer } from './process.ts'
import { TestClock } from './test-clock.ts'

export const publicUrl = 'https://orders.example.com'

/** Set by tools/test.ts: services run as they ship, `node server/main.ts serve` in a process of its own. */
const isShipped = process.env.TEST_SHIPPED !== undefined

/** Made once for a test process: neither keys nor password hashes are what most tests are about. */
let sharedKey: string | undefined
let sharedSeed: Promise<SeedDemoInput> | undefined

export interface ServiceOptions {
  /** Settings as in the environment, over production defaults with the request limits off. */
  env?: Record<string, string>
  development?: boolean
  /** Puts the 250 demo orders in. */
  orders?: boolean
  keys?: SigningKeys
  /** The service's clock goes on by itself; else it moves by `advance` alone, and no test depends on how fast it is. */
  clockRuns?: boolean
}

/** The real service with production options on a database of its own, listening on loopback. */
export interface Service {
  /** The same database: in a process of its own, the service does not see what is replaced here. */
  db: Readonly<AppDatabase>
  config: Config
  baseUrl: string
  databaseUrl: string
  keys: SigningKeys
  antiforgeryKey: Buffer
  /** Every log line so far, parsed; those of all that has been answered are there. */
  log(): Promise<Record<string, unknown>[]>
  /** The service's clock: when it started, plus what `advance` added. */
  now(): number
  advance(milliseconds: number): void
  /** A caller without credentials; see client.ts. */
  client(): Client
  /** A caller with a bearer token of a demo account, or of the demo service. */
  bearer(account: 'admin' | 'operator' | 'viewer' | 'demo-service'): Promise<Client>
  /** A caller with a session cookie and its antiforgery token. */
  session(account: 'admin' | 'operator' | 'viewer'): Promise<Client>
  /** Fails when the log holds a secret, or an answer told about the inside; see discretion.ts. */
  close(): Promise<void>
}

/** A service in this process, of which a test may look at parts, or replace them. */
export interface InsideService extends Service {
  app: App
  db: AppDatabase
  readiness: Readiness
}

export function passwordOf(userName: 'admin' | 'operator' | 'viewer'): { email: string; password: string } {
  const account = demoAccounts.find((candidate) => candidate.userName === userName)
  if (account === undefined) throw new Error(userName)
  return { email: account.email, password: account.password }
}

/** Development is nothing that ships, and keys that are no files cannot be given to a process: those run inside. */
export function startService(options: ServiceOptions = {}): Promise<Service> {
  const mayShip = !options.development && options.keys === undefined && !options.clockRuns
  return isShipped && mayShip ? startShipped(options) : startInside(options)
}

/** In this process. */
export async function startInside(options: ServiceOptions = {}): Promise<InsideService> {
  const parts = await prepare(options)
  const { config, database, clock, keys, antiforgeryKey } = parts
  const db = await openAppDatabase(config.database)
  await seed(db, options)
  const logLines: Record<string, unknown>[] = []
  let logged = ''
  const log = makeLog(
    { level: config.logLevel },
    {
      write(line: string) {
        logged += line
        logLines.push(JSON.parse(line))
      },
    },
  )
  const readiness: Readiness = { phase: 'serving' }
  const app = await buildApp({ config, db, clock: clock.now, log, keys, antiforgeryKey, readiness })
  watchServer(app.server)
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    ...shared(parts, baseUrl),
    app,
    db,
    readiness,
    log: async () => logLines,
    async close() {
      await app.close()
      await db.close()
      await database.drop()
      clock.remove()
      assertDiscreet(logged)
    },
  }
}

/** As it ships. Only its clock is the test's: see test-clock.ts. */
async function startShipped(options: ServiceOptions): Promise<Service> {
  const parts = await prepare(options)
  const { config, env, database, clock } = parts
  const server = await startServer([], { ...env, ...clock.env })
  // Production does not start on a database with demo accounts.
  const db = await openAppDatabase(config.database)
  await seed(db, options)
  const caller = new Client(server.baseUrl)
  return {
    ...shared(parts, server.baseUrl),
    db,
    async log() {
      // The lines of all requests that were answered before this one stand before its own.
      const marker = `marker-${randomBytes(8).toString('hex')}`
      await caller.get('/health', { 'x-request-id': marker })
      await server.printed(marker)
      const lines = server.output().split('\n')
      return lines
        .filter((line) => line.startsWith('{') && !line.includes('"marker-'))
        .map((line) => JSON.parse(line))
    },
    async close() {
      await db.close()
      const status = await server.stop()
      await database.drop()
      clock.remove()
      if (status !== 0) throw new Error(`the service ended with ${status}:\n${server.output()}`)
    },
  }
}

interface Parts {
  env: Record<string, string>
  config: Config
  database: TestDatabase
  clock: TestClock
  keys: SigningKeys
  antiforgeryKey: Buffer
}

async function prepare({ env: given, development = false, keys, clockRuns = false }: ServiceOptions) {
  const database = await createTestDatabase()
  // The accounts are there before the clock of the service begins: a token is never older than its account.
  await preparedSeed()
  const clock = new TestClock(clockRuns)
  const env = {
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PUBLIC_URL: publicUrl,
    DATABASE_URL: database.databaseUrl,
    ANTIFORGERY_KEY: randomBytes(32).toString('base64'),
    SIGNING_KEY_FILES: keyFile(),
    RATE_LIMIT_FACTOR: '0',
    DRAIN_SECONDS: '0',
    LOG_LEVEL: 'trace',
    ...given,
  }
  const config = readConfig(env, { development })
  const antiforgeryKey = config.antiforgeryKey ?? randomBytes(32)
  noteSecret(antiforgeryKey.toString('base64'))
  noteSecret(antiforgeryKey.toString('base64url'))
  const ownKeys = () => signingKeysOf([createPrivateKey(sharedPem())], config.signingAlgorithm)
  return { env, config, database, clock, keys: keys ?? (await ownKeys()), antiforgeryKey } satisfies Parts
}

function sharedPem(): string {
  sharedKey ??= generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).privateKey
  return sharedKey
}

let sharedKeyFile: string | undefined

function keyFile(): string {
  if (sharedKeyFile !== undefined) return sharedKeyFile
  const folder = mkdtempSync(join(tmpdir(), 'countersign-keys-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  sharedKeyFile = join(folder, 'signing.pem')
  writeFileSync(sharedKeyFile, sharedPem(), { mode: 0o600 })
  return sharedKeyFile
}

async function seed(db: AppDatabase, { orders }: ServiceOptions): Promise<void> {
  const demo = await preparedSeed()
  await db.write('seedDemo', orders ? demo : { ...demo, orders: [] })
}

function preparedSeed(): Promise<SeedDemoInput> {
  sharedSeed ??= prepareDemo({ nowMilliseconds: Date.now(), passwords: { hash: hashOf }, demoOrders: true })
  return sharedSeed
}

/** What is the same wherever the service runs. */
function shared({ config, database, clock, keys, antiforgeryKey }: Parts, baseUrl: string) {
  const client = () => new Client(baseUrl)
  return {
    config,
    baseUrl,
    databaseUrl: database.databaseUrl,
    keys,
    antiforgeryKey,
    now: clock.now,
    advance: clock.advance,
    client,
    async bearer(account: 'admin' | 'operator' | 'viewer' | 'demo-service') {
      const body =
        account === 'demo-service'
          ? { clientId: demoClient.clientId, clientSecret: demoClient.clientSecret }
          : passwordOf(account)
      const path = account === 'demo-service' ? '/v1/auth/clients/token' : '/v1/auth/token'
      const answer = await client().post(path, body)
      if (answer.status !== 200) throw new Error(`${account} got no token: ${answer.status} ${answer.text}`)
      return client().withBearer(answer.body.accessToken)
    },
    async session(account: 'admin' | 'operator' | 'viewer') {
      const caller = client()
      await caller.post('/v1/auth/session', passwordOf(account))
      await caller.fetchAntiforgeryToken()
      return caller
    },
  }
}
