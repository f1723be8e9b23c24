import assert from 'node:assert/strict'
import { createPrivateKey, randomBytes } from 'node:crypto'
import { after, before } from 'node:test'
import { buildApp } from '../../server/app.ts'
import { headOfLog } from '../../server/audit/audit.ts'
import { type LogKeys, loadLogKeys } from '../../server/audit/checkpoints/checkpoints.ts'
import { type SigningKeys, signingKeysOf } from '../../server/auth/credentials/tokens/keys.ts'
import { type Config, readConfig } from '../../server/config.ts'
import type { AppDatabase } from '../../server/db/port.ts'
import { demoAccounts, demoClient, prepareDemo, type SeedDemoInput } from '../../server/demo/demo.ts'
import type { Readiness } from '../../server/http/health.ts'
import type { App } from '../../server/http/route.ts'
import { makeLog } from '../../server/log.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { hashOf } from './cheap-hash.ts'
import { Client } from './client.ts'
import { assertDiscreet, noteSecret, watchServer } from './discretion.ts'
import { createServedDatabase } from './documented-roles.ts'

import { startServer } from './process.ts'
import { keyFiles, keyPems } from './signing-key.ts'
import { TestClock } from './test-clock.ts'

export const publicUrl = 'https://orders.example.com'

/** Set by tools/test.ts: services run as they ship, `node server/main.ts serve` in another process. */
const isShipped = process.env.TEST_SHIPPED !== undefined

/** Made once for a test process: few tests are about password hashes. */
let sharedSeed: Promise<SeedDemoInput> | undefined

export interface ServiceOptions {
  /** Settings as in the environment, over production defaults with the request limits off. */
  env?: Record<string, string>
  development?: boolean
  /** Adds the 250 demo orders. */
  orders?: boolean
  keys?: SigningKeys | undefined
  /**
   * The service's clock runs. Otherwise it moves by `advance` alone, and no test depends on the machine's
   * speed.
   */
  clockRuns?: boolean
  /** Runs in this process, where the test can inspect or replace its parts; `false`: as it ships, always. */
  inside?: boolean
  /** Runs as one more instance of this service: same database, clock and, without `keys`, same keys. */
  instanceOf?: Service
  /** Closes the service after a test (`t`), or after a describe or file (`{ after }` of node:test). */
  until?: { after(hook: () => Promise<void>): void }
}

/** The real service with production options on a separate database, listening on loopback. */
export interface Service {
  /** The same database. A service in another process does not see what the test replaces here. */
  db: Readonly<AppDatabase>
  config: Config
  baseUrl: string
  databaseUrl: string
  keys: SigningKeys
  logKeys: LogKeys
  antiforgeryKey: Buffer
  /** Every log line so far, parsed, including those of every request that has been answered. */
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
  /** Fails when the log holds a secret or an answer showed internals; see discretion.ts. */
  close(): Promise<void>
}

export interface InsideService extends Service {
  app: App
  db: AppDatabase
  readiness: Readiness
}

type InsideOptions = ServiceOptions & ({ inside: true } | { instanceOf: Service })

/**
 * Starts a service: as it ships if tools/test.ts wants that and the options allow it, otherwise in this
 * process.
 */
export function startService(options: InsideOptions): Promise<InsideService>
export function startService(options?: ServiceOptions): Promise<Service>
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const { development, keys, clockRuns, inside, instanceOf } = options
  // Development mode does not ship, and another process takes keys only as files.
  const mayShip = !development && !keys && !clockRuns && !instanceOf
  const ships = mayShip && !(inside ?? !isShipped)
  const service = await (ships ? startShipped(options) : startInside(options))
  options.until?.after(() => service.close())
  return service
}

let shared: Promise<Service> | undefined
after(async () => {
  // Checkpoints of another era are of another log.
  if (shared)
    assert.equal((await headOfLog((await shared).db.read)).era, 1, 'begin eras of a separate service')
  await (await shared)?.close()
})

/**
 * The service of the describe that calls this in its body. Without options it is the one that the whole
 * process shares, because each costs two seconds of a processor. There, each test adds its own accounts,
 * failed sign-ins name an email that no account has, demo accounts keep their roles, and the clock never goes
 * back. With options the describe gets a separate service, in this process.
 */
export function testService(options: ServiceOptions): InsideService
export function testService(): Service
export function testService(options?: ServiceOptions): Service {
  const service = setUp(() => {
    if (options) return startService({ ...options, inside: true })
    shared ??= startService()
    return shared
  })
  if (options) after(() => service.close())
  return service
}

/**
 * What the tests of a describe start with: made before the first of them, or for each (`beforeEach`). Until
 * then it is empty, so it serves for callers, accounts and plain data.
 */
export function setUp<T extends object>(make: () => Promise<T>, hook: typeof before = before): T {
  const copy = {} as T
  hook(async () => {
    const made = await make()
    Object.assign(Object.setPrototypeOf(copy, Object.getPrototypeOf(made)), made)
  })
  return copy
}

export function passwordOf(userName: 'admin' | 'operator' | 'viewer'): { email: string; password: string } {
  const account = demoAccounts.find((candidate) => candidate.userName === userName)
  if (account === undefined) throw new Error(userName)
  return { email: account.email, password: account.password }
}

async function startInside(options: ServiceOptions): Promise<InsideService> {
  const { instanceOf } = options
  const prepared = instanceOf ? undefined : await prepare(options)
  const base = { ...((instanceOf ?? prepared) as Base), ...(options.keys ? { keys: options.keys } : {}) }
  const { config, now, keys, logKeys, antiforgeryKey } = base
  const db = instanceOf?.db ?? (await openSeeded(config, options))
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
  const app = await buildApp({ config, db, clock: now, log, keys, logKeys, antiforgeryKey, readiness })
  watchServer(app.server)
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    ...withCallers(base, baseUrl),
    app,
    db,
    readiness,
    log: async () => logLines,
    async close() {
      await app.close()
      if (!instanceOf) await db.close()
      await prepared?.remove()
      assertDiscreet(logged)
    },
  }
}

/** Starts the service as it ships, except that the test sets its clock: see test-clock.ts. */
async function startShipped(options: ServiceOptions): Promise<Service> {
  const prepared = await prepare(options)
  const server = await startServer([], prepared.env)
  // Production does not start on a database with demo accounts.
  const db = await openSeeded(prepared.config, options)
  const caller = new Client(server.baseUrl)
  return {
    ...withCallers(prepared, server.baseUrl),
    db,
    async log() {
      // The lines of every request answered before this one precede its own.
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
      await prepared.remove()
      if (status !== 0) throw new Error(`the service ended with ${status}:\n${server.output()}`)
    },
  }
}

type Base = Pick<
  Service,
  'config' | 'databaseUrl' | 'keys' | 'logKeys' | 'antiforgeryKey' | 'now' | 'advance'
>

async function prepare({ env: given, development = false, clockRuns = false }: ServiceOptions) {
  const { databaseUrl, appUrl, drop } = await createServedDatabase()
  // The accounts exist before the clock of the service starts, because a token is never older than its
  // account.
  await preparedSeed()
  const clock = new TestClock(clockRuns)
  const env = {
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PUBLIC_URL: publicUrl,
    DATABASE_URL: appUrl,
    ANTIFORGERY_KEY: randomBytes(32).toString('base64'),
    ...keyFiles(),
    RATE_LIMIT_FACTOR: '0',
    DRAIN_SECONDS: '0',
    LOG_LEVEL: 'trace',
    ...given,
  }
  const config = readConfig(env, { development })
  const antiforgeryKey = config.antiforgeryKey ?? randomBytes(32)
  noteSecret(antiforgeryKey.toString('base64'))
  noteSecret(antiforgeryKey.toString('base64url'))
  return {
    env: { ...env, ...clock.env },
    config,
    databaseUrl,
    keys: await signingKeysOf([createPrivateKey(keyPems().signing)], config.signingAlgorithm),
    logKeys: loadLogKeys(config.logKeyFiles),
    antiforgeryKey,
    now: clock.now,
    advance: clock.advance,
    async remove() {
      await drop()
      clock.remove()
    },
  }
}

async function openSeeded(config: Config, { orders }: ServiceOptions): Promise<AppDatabase> {
  const db = await openAppDatabase(config.database)
  const demo = await preparedSeed()
  await db.write('seedDemo', orders ? demo : { ...demo, orders: [] })
  return db
}

function preparedSeed(): Promise<SeedDemoInput> {
  sharedSeed ??= prepareDemo({ nowMilliseconds: Date.now(), passwords: { hash: hashOf }, demoOrders: true })
  return sharedSeed
}

function withCallers(
  { config, databaseUrl, keys, logKeys, antiforgeryKey, now, advance }: Base,
  baseUrl: string,
) {
  const client = () => new Client(baseUrl)
  return {
    config,
    baseUrl,
    databaseUrl,
    keys,
    logKeys,
    antiforgeryKey,
    now,
    advance,
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
