import { generateKeyPair, randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { machineStamp } from '../../server/audit/stamp.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { hashOf } from './accounts.ts'
import { Client } from './client.ts'
import { createTestDatabase } from './database.ts'
import { type RunningServer, startServer } from './process.ts'

const password = 'quiet harbour lanterns at dusk'

/** Of every account of `prepareProduction`. */
export function credentialsOf(userName: 'admin' | 'operator'): { email: string; password: string } {
  return { email: `${userName}@example.com`, password }
}

/** Settings with which real processes serve a database: the same keys for each, request limits off. */
export interface Production {
  databaseUrl: string
  env: Record<string, string>
  /** A process more, which ends with the production unless it has ended before. */
  serve(env?: Record<string, string>): Promise<RunningServer>
  /** Ends what serves, and takes away keys and database. */
  remove(): Promise<void>
}

/** On a database of its own, which goes with it. */
export async function newProduction(): Promise<Production> {
  const { databaseUrl, drop } = await createTestDatabase()
  return prepareProduction(databaseUrl, drop)
}

/** Migrates the database, adds the users `admin` and `operator`, and makes the keys of a production run. */
export async function prepareProduction(
  databaseUrl: string,
  drop?: () => Promise<void>,
): Promise<Production> {
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
  return productionKeys(databaseUrl, drop)
}

/** The settings alone. */
export async function productionKeys(databaseUrl: string, drop?: () => Promise<void>): Promise<Production> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-keys-'))
  const { privateKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const file = join(folder, 'signing.pem')
  await writeFile(file, privateKey, { mode: 0o600 })
  const env = {
    HOST: '127.0.0.1',
    PUBLIC_URL: 'https://orders.example.com',
    DATABASE_URL: databaseUrl,
    SIGNING_KEY_FILES: file,
    ANTIFORGERY_KEY: randomBytes(32).toString('base64'),
    RATE_LIMIT_FACTOR: '0',
    NODE_COMPILE_CACHE: join(tmpdir(), 'countersign-test-compile-cache'),
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
      await rm(folder, { recursive: true, force: true })
      await drop?.()
    },
  }
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

/** The same caller at another instance: the same cookies at this moment, and its own from then on. */
export function at(baseUrl: string, caller: Client): Client {
  const other = new Client(baseUrl)
  for (const [name, value] of caller.cookies) other.cookies.set(name, value)
  Object.assign(other.headers, caller.headers)
  return other
}
