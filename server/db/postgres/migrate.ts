import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { Kysely, sql, type Transaction } from '#kysely'
import { DatabaseRefused, DatabaseUnavailable } from '../errors.ts'
import { migrate, pendingMigrations } from '../migrate.ts'
import type { Database } from '../tables.ts'
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

type MigrationAddress = Pick<PostgresOptions, 'url' | 'transactionPooler'>

/** 'countersign' in ASCII, cut to eight bytes: the lock under which instances that start together migrate. */
const migrationLock = '7165916604736402019'

/**
 * Migrates under an advisory lock, in one transaction. A role without the right to create tables can start as long
 * as nothing is to be applied. Waits for a server that does not answer yet, or is lost again on the way, up to
 * `waitMilliseconds`; then, and at once for what waiting does not mend, throws `DatabaseRefused`.
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
  { url, transactionPooler }: MigrationAddress,
  onNotice: (message: string) => void,
): Promise<string[]> {
  const client = await connect(url, applicationName)
  try {
    if (!transactionPooler) await refuseTransactionPooler(client, url)
    const db = new Kysely<Database>({
      dialect: postgresDialect(onlySource(client), { names: undefined }),
    })
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
 * Two connections that one process of the server serves come from a pooler that hands them out by transaction: what one
 * session sets would reach others. Where the pooler is busy they may differ all the same; its errors then tell.
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

/**
 * However long it takes, and however long another instance holds the lock. The transaction has no limits from then on.
 */
export async function migrateUnderLock(trx: Transaction<Database>): Promise<string[]> {
  await liftLimits.execute(trx)
  await sql`select pg_advisory_xact_lock(${sql.raw(migrationLock)})`.execute(trx)
  return migrate(trx, schema)
}

/** Role and database may have set some. */
const liftLimits = sql`select set_config(name, '0', true) from pg_settings where name in
  ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`

/** Without the extension pg_trgm the migration could not make it (docs/operations.md). */
async function noticeMissingIndex(db: Kysely<Database>, onNotice: (message: string) => void): Promise<void> {
  const { rows } = await within(
    silenceTimeoutMilliseconds,
    sql`select 1 where to_regclass('orders_by_trigram') is not null`.execute(db),
  )
  if (rows.length > 0) return
  onNotice('there is no index orders_by_trigram: searching text looks at every order (docs/operations.md)')
}

/** A connection to a server of a version that will do. */
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
  // Waiting mends neither a server without TLS nor an address without a password.
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
