import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { Kysely, sql } from '#kysely'
import { DatabaseRefused, DatabaseUnavailable, LockTimeout } from '../errors.ts'
import {
  type JudgedDatabase,
  judge,
  migrateAll,
  migrateNext,
  migrationOf,
  noteApplied,
  pendingMigrations,
  requireMigrated,
} from '../migrate.ts'
import type { Database, Db, Schema, Trx } from '../tables.ts'
import {
  Connection,
  connectTimeoutMilliseconds,
  onlySource,
  type PostgresOptions,
  types,
} from './connections.ts'
import {
  postgresDialect,
  silenceTimeoutMilliseconds,
  translateConnectError,
  translatePostgresError,
  within,
} from './driver.ts'
import { schema } from './schema.ts'

/** The oldest release whose features and planner this service is tested with. */
const oldestServerMajor = 15

const applicationName = 'countersign migration'

type Address = Pick<PostgresOptions, 'url' | 'transactionPooler'>

interface MigrationAddress extends Address {
  /** Only requires that no migration is pending. */
  readOnly: boolean
}

/** 'countersign' in ASCII, cut to eight bytes: the lock for instances that start together and migrate. */
const migrationLock = '7165916604736402019'

/**
 * Migrates a step at a time, each under an advisory lock and in a transaction. A role that cannot create
 * tables can start if nothing is to be applied. Waits up to `waitMilliseconds` for a server that does not
 * answer or is lost again. After that, or at once for a fault that waiting does not fix, throws
 * `DatabaseRefused`.
 */
export async function migratePostgres(
  address: MigrationAddress,
  waitMilliseconds: number,
  onNotice: (message: string) => void,
  steps = schema,
): Promise<string[]> {
  return whenReachable(address, waitMilliseconds, onNotice, async (db) => {
    if (address.readOnly) await within(silenceTimeoutMilliseconds, requireMigrated(db, steps))
    const applied = await applyPending(db, steps, address, onNotice)
    await noticeMissingIndex(db, onNotice)
    return applied
  })
}

/** Says what is pending. Changes nothing. */
export function judgePostgres(address: Address, steps = schema): Promise<JudgedDatabase> {
  return whenReachable(
    address,
    0,
    () => undefined,
    (db) => within(silenceTimeoutMilliseconds, judge(db, steps)),
  )
}

async function whenReachable<T>(
  { url, transactionPooler }: Address,
  waitMilliseconds: number,
  onNotice: (message: string) => void,
  work: (db: Db) => Promise<T>,
): Promise<T> {
  const giveUpAt = performance.now() + waitMilliseconds
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await connected({ url, transactionPooler }, work)
    } catch (error) {
      const pause = Math.min(500 * attempt, 5_000)
      if (!(error instanceof DatabaseUnavailable)) throw error
      if (performance.now() + pause > giveUpAt) throw unreachable(error)
      onNotice(`DATABASE_URL: PostgreSQL does not answer yet (${error.message}); trying again`)
      await delay(pause)
    }
  }
}

async function connected<T>({ url, transactionPooler }: Address, work: (db: Db) => Promise<T>): Promise<T> {
  const client = await connect(url, applicationName)
  try {
    if (!transactionPooler) await refuseTransactionPooler(client, url)
    return await work(
      new Kysely<Database>({ dialect: postgresDialect(onlySource(client), { names: undefined }) }),
    )
  } catch (error) {
    throw explain(translatePostgresError(error), schemaExplanations)
  } finally {
    await client.leave()
  }
}

async function applyPending(
  db: Db,
  steps: Schema,
  { transactionPooler }: Address,
  onNotice: (message: string) => void,
): Promise<string[]> {
  const applied: string[] = []
  for (;;) {
    const [next] = await within(silenceTimeoutMilliseconds, pendingMigrations(db, steps))
    if (next === undefined) return applied
    const migration = migrationOf(steps, next)
    if ('index' in migration) {
      if (!transactionPooler) await liftLimits(false).execute(db)
      await indexBesideOthers(db, migration)
      await noteApplied(db, next, migration)
      applied.push(next)
    } else {
      const name = await untilUnlocked(onNotice, () => {
        const transaction = db.transaction().setIsolationLevel('read committed')
        return transaction.execute((trx) => stepUnderLock(trx, steps, next))
      })
      if (name !== undefined) applied.push(name)
    }
  }
}

/** Others wait behind a step that waits for a table, so it gives up soon, and tries again. */
const lockTimeoutMilliseconds = 1_000
const lockPatienceMilliseconds = 600_000

async function untilUnlocked<T>(onNotice: (message: string) => void, step: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + lockPatienceMilliseconds
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await step()
    } catch (error) {
      const isLocked = translatePostgresError(error) instanceof LockTimeout
      if (!isLocked) throw error
      const held = 'a transaction holds a table that the migration changes'
      if (performance.now() > giveUpAt) throw new DatabaseRefused(`DATABASE_URL: ${held}`, { cause: error })
      if (attempt === 1) onNotice(`DATABASE_URL: ${held}; trying again until it ends`)
      await delay(Math.min(250 * attempt, 5_000))
    }
  }
}

/** Another process may have made the step meanwhile, and the next one may be an index, made otherwise. */
async function stepUnderLock(trx: Trx, steps: Schema, name: string): Promise<string | undefined> {
  await takeLock(trx)
  await sql`select set_config('lock_timeout', ${String(lockTimeoutMilliseconds)}, true)`.execute(trx)
  return migrateNext(trx, steps, name)
}

/** A deadlock of two processes that build one index, and two ways to say that the other was faster. */
const buildsOfOthers = ['40P01', '42P07', '23505']

/**
 * Makes an index while others write. An attempt that was killed leaves an index that is not valid, which is
 * made again; that of another process, which is not valid yet, is waited for.
 */
async function indexBesideOthers(db: Db, { index, on }: { index: string; on: string }): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ valid: boolean; building: boolean }>`select indisvalid as valid, exists
      (select 1 from pg_stat_progress_create_index where index_relid = indexrelid) as building
      from pg_index where indexrelid = to_regclass(${index})`.execute(db)
    const [found] = rows
    if (found?.valid) return
    const next =
      found === undefined
        ? `create index concurrently if not exists ${index} on ${on}`
        : `drop index concurrently if exists ${index}`
    try {
      if (!found?.building) await sql.raw(next).execute(db)
    } catch (error) {
      if (!(error instanceof pg.DatabaseError && buildsOfOthers.includes(error.code ?? ''))) throw error
    }
    await delay(200)
  }
}

/**
 * If one server process serves two connections, a pooler hands them out by transaction, and settings of one
 * session would reach others. A busy pooler may escape this check; its errors then show it.
 */
async function refuseTransactionPooler(client: Connection, url: string): Promise<void> {
  const other = await connect(url, applicationName)
  try {
    if ((await serverProcess(client)) !== (await serverProcess(other))) return
  } finally {
    await other.leave()
  }
  throw new DatabaseRefused(
    'DATABASE_URL: leads to a pooler that hands out connections by transaction: set DATABASE_POOLER=transaction',
  )
}

async function serverProcess(client: Connection): Promise<number | undefined> {
  const answer = client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return (await within(silenceTimeoutMilliseconds, answer)).rows[0]?.pid
}

/** All migrations in one transaction, for a database that nobody else uses yet. */
export async function migrateUnderLock(trx: Trx): Promise<string[]> {
  await takeLock(trx)
  return migrateAll(trx, schema)
}

/** Waits for the lock as long as it takes. After that, the transaction has no limits. */
async function takeLock(trx: Trx): Promise<void> {
  await liftLimits(true).execute(trx)
  await sql`select pg_advisory_xact_lock(${sql.raw(migrationLock)})`.execute(trx)
}

/** The role and the database may have set limits. */
const liftLimits = (
  ofTransaction: boolean,
) => sql`select set_config(name, '0', ${ofTransaction}) from pg_settings
  where name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`

/** Reports a migration that could not make the index without the extension pg_trgm (docs/operations.md). */
async function noticeMissingIndex(db: Db, onNotice: (message: string) => void): Promise<void> {
  const { rows } = await within(
    silenceTimeoutMilliseconds,
    sql`select 1 where to_regclass('orders_by_trigram') is not null`.execute(db),
  )
  if (rows.length > 0) return
  onNotice('there is no index orders_by_trigram: searching text looks at every order (docs/operations.md)')
}

/** Connects to a server whose version is supported. */
export async function connect(
  url: string,
  applicationName: string,
  timeoutMilliseconds = connectTimeoutMilliseconds,
): Promise<Connection> {
  const client = createClient({
    connectionString: url,
    application_name: applicationName,
    types,
    keepAlive: true,
    connectionTimeoutMillis: timeoutMilliseconds,
  })
  try {
    await client.connect().catch((error: unknown) => {
      throw explainConnect(error)
    })
    await refuseOldServer(client)
    return client
  } catch (error) {
    await client.leave().catch(() => undefined)
    throw error
  }
}

function explainConnect(error: unknown): unknown {
  const explained = explain(translatePostgresError(error), connectExplanations)
  if (explained !== error) return explained
  // Waiting fixes neither a server without TLS nor an address without a password.
  const { message } = translateConnectError(error) as DatabaseUnavailable
  return new DatabaseRefused(`DATABASE_URL: ${message}`, { cause: error })
}

/** The driver reads the files that the address names. */
function createClient(config: pg.ClientConfig): Connection {
  try {
    return new Connection(config)
  } catch (error) {
    throw new DatabaseRefused(
      'DATABASE_URL: the address is not valid, or names a certificate file that cannot be read',
      { cause: error },
    )
  }
}

async function refuseOldServer(client: Connection): Promise<void> {
  const { rows } = await within(
    silenceTimeoutMilliseconds,
    client.query<{ server_version_num: string }>('show server_version_num'),
  ).catch((error: unknown) => {
    throw translatePostgresError(error)
  })
  const major = Math.floor(Number(rows[0]?.server_version_num) / 10_000)
  if (major >= oldestServerMajor) return
  throw new DatabaseRefused(
    `DATABASE_URL: the server is PostgreSQL ${major}; version ${oldestServerMajor} or newer is needed`,
  )
}

const connectExplanations: Record<string, string> = {
  '28P01': 'the password was not accepted',
  '28000': 'the role was not accepted',
  '3D000': 'there is no such database',
  '42501': 'the role may not connect to the database',
}

const schemaExplanations: Record<string, string> = {
  '42501': 'the role may not create tables; let its owner run `migrate` first (docs/operations.md)',
}

/** One line for the operator, without the address. */
function explain(error: unknown, explanations: Record<string, string>): unknown {
  if (!(error instanceof pg.DatabaseError)) return error
  const known = explanations[error.code ?? '']
  if (known === undefined) return error
  return new DatabaseRefused(`DATABASE_URL: ${known}: ${error.message}`, { cause: error })
}

function unreachable(error: DatabaseUnavailable): DatabaseRefused {
  return new DatabaseRefused(`DATABASE_URL: PostgreSQL cannot be reached: ${error.message}`, { cause: error })
}
