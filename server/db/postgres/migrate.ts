import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { Kysely, sql } from '#kysely'
import { DatabaseRefused, DatabaseUnavailable } from '../errors.ts'
import { migrate, pendingMigrations, requireMigrated } from '../migrate.ts'
import type { Database, Db, Trx } from '../tables.ts'
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

interface MigrationAddress extends Pick<PostgresOptions, 'url' | 'transactionPooler'> {
  /** Only requires that no migration is pending. */
  readOnly: boolean
}

/** 'countersign' in ASCII, cut to eight bytes: the lock for instances that start together and migrate. */
const migrationLock = '7165916604736402019'

/**
 * Migrates under an advisory lock, in one transaction. A role that cannot create tables can start if nothing
 * is to be applied. Waits up to `waitMilliseconds` for a server that does not answer or is lost again. After
 * that, or at once for a fault that waiting does not fix, throws `DatabaseRefused`.
 */
export async function migratePostgres(
  address: MigrationAddress,
  waitMilliseconds: number,
  onWaiting: (message: string) => void,
): Promise<string[]> {
  const giveUpAt = performance.now() + waitMilliseconds
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await migrateOnce(address, onWaiting)
    } catch (error) {
      const pause = Math.min(500 * attempt, 5_000)
      if (!(error instanceof DatabaseUnavailable)) throw error
      if (performance.now() + pause > giveUpAt) throw unreachable(error)
      onWaiting(`DATABASE_URL: PostgreSQL does not answer yet (${error.message}); trying again`)
      await delay(pause)
    }
  }
}

async function migrateOnce(
  { url, transactionPooler, readOnly }: MigrationAddress,
  onNotice: (message: string) => void,
): Promise<string[]> {
  const client = await connect(url, applicationName)
  try {
    if (!transactionPooler) await refuseTransactionPooler(client, url)
    const db = new Kysely<Database>({
      dialect: postgresDialect(onlySource(client), { names: undefined }),
    })
    if (readOnly) await within(silenceTimeoutMilliseconds, requireMigrated(db, schema))
    const pending = await within(silenceTimeoutMilliseconds, pendingMigrations(db, schema))
    if (pending.length === 0) {
      await noticeMissingIndex(db, onNotice)
      return []
    }
    const transaction = db.transaction().setIsolationLevel('read committed')
    const applied = await transaction.execute(migrateUnderLock)
    await noticeMissingIndex(db, onNotice)
    return applied
  } catch (error) {
    throw explain(translatePostgresError(error), schemaExplanations)
  } finally {
    await client.leave()
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

/** Waits for the lock as long as it takes. After that, the transaction has no limits. */
export async function migrateUnderLock(trx: Trx): Promise<string[]> {
  await liftLimits.execute(trx)
  await sql`select pg_advisory_xact_lock(${sql.raw(migrationLock)})`.execute(trx)
  return migrate(trx, schema)
}

/** The role and the database may have set limits. */
const liftLimits = sql`select set_config(name, '0', true) from pg_settings where name in
  ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`

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
