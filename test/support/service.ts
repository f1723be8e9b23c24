import { randomBytes } from 'node:crypto'
import { buildApp } from '../../server/app.ts'
import { Passwords } from '../../server/auth/passwords.ts'
import { loadSigningKeys, type SigningKeys } from '../../server/auth/tokens/keys.ts'
import { type Config, readConfig } from '../../server/config.ts'
import { demoAccounts, demoClient, prepareDemo, type SeedDemoInput } from '../../server/demo/demo.ts'
import type { App } from '../../server/http/route.ts'
import { makeLog } from '../../server/log.ts'
import type { AppDatabase } from '../../server/operations.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { Client } from './client.ts'
import { createTestDatabase } from './database.ts'
import { assertDiscreet, noteSecret, watchServer } from './discretion.ts'

export const publicUrl = 'https://orders.example.com'

/** Made once for a test process: neither keys nor password hashes are what most tests are about. */
let sharedKeys: Promise<SigningKeys> | undefined
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

/** The real app with production options on a database file of its own, listening on loopback. */
export interface Service {
  app: App
  db: AppDatabase
  config: Config
  baseUrl: string
  databaseUrl: string
  keys: SigningKeys
  antiforgeryKey: Buffer
  readiness: { draining: boolean }
  /** Every log line so far, parsed. */
  logLines: Record<string, unknown>[]
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

export function passwordOf(userName: 'admin' | 'operator' | 'viewer'): { email: string; password: string } {
  const account = demoAccounts.find((candidate) => candidate.userName === userName)
  if (account === undefined) throw new Error(userName)
  return { email: account.email, password: account.password }
}

export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const database = await createTestDatabase()
  const { databaseUrl } = database
  const development = options.development ?? false
  const env = {
    PUBLIC_URL: publicUrl,
    DATABASE_URL: databaseUrl,
    ANTIFORGERY_KEY: randomBytes(32).toString('base64'),
    SIGNING_KEY_FILES: 'given-below.pem',
    RATE_LIMIT_FACTOR: '0',
    ...options.env,
  }
  const config = readConfig(env, { development })
  sharedKeys ??= loadSigningKeys([], config.signingAlgorithm)
  const keys = options.keys ?? (await sharedKeys)
  const db = await openAppDatabase(config.database)
  sharedSeed ??= prepareDemo({ nowMilliseconds: Date.now(), passwords: new Passwords(), demoOrders: true })
  const seed = await sharedSeed
  await db.write('seedDemo', options.orders ? seed : { ...seed, orders: [] })

  let offset = 0
  const startedAt = Date.now()
  const now = () => (options.clockRuns ? Date.now() : startedAt) + offset
  const logLines: Record<string, unknown>[] = []
  let logged = ''
  const log = makeLog(
    { level: config.logLevel === 'info' ? 'trace' : config.logLevel },
    {
      write(line: string) {
        logged += line
        logLines.push(JSON.parse(line))
      },
    },
  )
  const readiness = { draining: false }
  const antiforgeryKey = config.antiforgeryKey ?? randomBytes(32)
  const app = await buildApp({ config, db, clock: now, log, keys, antiforgeryKey, readiness })
  noteSecret(antiforgeryKey.toString('base64'))
  noteSecret(antiforgeryKey.toString('base64url'))
  watchServer(app.server)
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 })
  const client = () => new Client(baseUrl)
  return {
    app,
    db,
    config,
    baseUrl,
    databaseUrl,
    keys,
    antiforgeryKey,
    readiness,
    logLines,
    now,
    advance: (milliseconds) => {
      offset += milliseconds
    },
    client,
    async bearer(account) {
      const body =
        account === 'demo-service'
          ? { clientId: demoClient.clientId, clientSecret: demoClient.clientSecret }
          : passwordOf(account)
      const path = account === 'demo-service' ? '/v1/auth/clients/token' : '/v1/auth/token'
      const answer = await client().post(path, body)
      if (answer.status !== 200) throw new Error(`${account} got no token: ${answer.status} ${answer.text}`)
      return client().withBearer(answer.body.accessToken)
    },
    async session(account) {
      const caller = client()
      await caller.post('/v1/auth/session', passwordOf(account))
      await caller.fetchAntiforgeryToken()
      return caller
    },
    async close() {
      await app.close()
      await db.close()
      await database.drop()
      assertDiscreet(logged)
    },
  }
}
