import { randomBytes } from 'node:crypto'
import { after } from 'node:test'
import { machineStamp } from '../../server/caller/stamp.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { hashOf } from './cheap-hash.ts'
import { Client } from './client.ts'
import {
  copyTestDatabase,
  createTestDatabase,
  keepRawDatabase,
  type TestDatabase,
  testEngine,
} from './database.ts'
import { quickStart, type RunningServer, startServer } from './process.ts'
import { setUp } from './service.ts'
import { keyFiles } from './signing-key.ts'

const password = 'quiet harbour lanterns at dusk'

/** How the accounts that `newProduction` adds sign in. */
export function credentialsOf(userName: 'admin' | 'operator'): { email: string; password: string } {
  return { email: `${userName}@example.com`, password }
}

/** Settings with which real processes serve one database: the same keys for each, request limits off. */
export interface Production {
  databaseUrl: string
  env: Record<string, string>
  /** Starts one more process. It ends with the production, unless it has ended before. */
  serve(env?: Record<string, string>): Promise<RunningServer>
  /** Ends the processes, and drops the database unless it was given. */
  remove(): Promise<void>
}

interface ProductionOptions {
  /** A new database unless one is given. */
  databaseUrl?: string
  /** Whether to migrate the database and add the users `admin` and `operator`; true unless given. */
  accounts?: boolean
}

export async function newProduction(options: ProductionOptions = {}): Promise<Production> {
  const { accounts = true } = options
  const created = options.databaseUrl === undefined ? await createDatabase(accounts) : undefined
  const databaseUrl = options.databaseUrl ?? (created as TestDatabase).databaseUrl
  if (accounts && !created) await addAccounts(databaseUrl)
  // On SQLite, an open connection would keep the files of a killed service from being recovered.
  const close = created && testEngine === 'postgres' ? keepRawDatabase(databaseUrl) : undefined
  const env = {
    HOST: '127.0.0.1',
    PUBLIC_URL: 'https://orders.example.com',
    DATABASE_URL: databaseUrl,
    ...keyFiles(),
    ANTIFORGERY_KEY: randomBytes(32).toString('base64'),
    RATE_LIMIT_FACTOR: '0',
    ...quickStart,
  }
  const servers: RunningServer[] = []
  return {
    databaseUrl,
    env,
    async serve(more) {
      const server = await startServer([], { ...env, ...more })
      servers.push(server)
      return server
    },
    async remove() {
      await Promise.all(servers.map((server) => server.stop()))
      await close?.()
      await created?.drop()
    },
  }
}

/** The production of the describe that calls this in its body. */
export function testProduction(options?: ProductionOptions): Production {
  const production = setUp(() => newProduction(options))
  after(() => production.remove?.())
  return production
}

/** Made once for a process, because migrating PostgreSQL costs a quarter of a second. */
let original: Promise<TestDatabase> | undefined

async function createDatabase(accounts: boolean): Promise<TestDatabase> {
  if (!accounts) return createTestDatabase()
  original ??= createOriginal()
  return copyTestDatabase(await original)
}

async function createOriginal(): Promise<TestDatabase> {
  const database = await createTestDatabase()
  await addAccounts(database.databaseUrl)
  process.once('beforeExit', () => database.drop())
  return database
}

async function addAccounts(databaseUrl: string): Promise<void> {
  const db = await openAppDatabase({ databaseUrl })
  const passwordHash = await hashOf(password)
  for (const [userName, role] of [
    ['admin', 'Admin'],
    ['operator', 'Operator'],
  ] as const) {
    await db.write('addUser', {
      userName,
      email: credentialsOf(userName).email,
      passwordHash,
      timeZone: null,
      roles: [role],
      stamp: machineStamp(Date.now() - 1_000),
    })
  }
  await db.close()
}

/** A caller with an access token of the account. */
export async function bearerOf(baseUrl: string, userName: 'admin' | 'operator'): Promise<Client> {
  const { body } = await new Client(baseUrl).post('/v1/auth/token', credentialsOf(userName))
  return new Client(baseUrl).withBearer(body.accessToken)
}

/** A caller with a session cookie and its antiforgery token. */
export async function sessionOf(baseUrl: string, userName: 'admin' | 'operator'): Promise<Client> {
  const caller = new Client(baseUrl)
  await caller.post('/v1/auth/session', credentialsOf(userName))
  await caller.fetchAntiforgeryToken()
  return caller
}

/** The same caller at another instance, with a copy of its cookies. */
export function at(baseUrl: string, caller: Client): Client {
  const other = new Client(baseUrl)
  for (const [name, value] of caller.cookies) other.cookies.set(name, value)
  Object.assign(other.headers, caller.headers)
  return other
}
