import type pg from 'pg'
import { Kysely, sql } from '#kysely'
import type { DatabasePort, ReadOperations, Registry, WriteOperations } from '../port.ts'
import { RefusedWrites } from '../refusals.ts'
import type { Database } from '../tables.ts'
import {
  ConnectionLosses,
  connectTimeoutMilliseconds,
  PipelinedConnection,
  PooledConnections,
  type PostgresOptions,
  types,
} from './connections.ts'
import { postgresDialect, StatementNames, silenceTimeoutMilliseconds, within } from './driver.ts'
import { Reads } from './reads.ts'
import { Writes } from './writes.ts'

/** Single reads are small; the server stops one that takes longer. */
const readTimeoutMilliseconds = 2_000
const lockTimeoutMilliseconds = 3_000
/** Short in a group: a member that meets a lock runs alone, so that it does not hold up the others. */
const groupLockTimeoutMilliseconds = 200
/** Even if each statement is answered in time, all together may take too long for the caller. */
const transactionLimitMilliseconds = 4_000
/** The limits of a command whose transactions may be long, and that rather waits than fails. */
const patience = { transaction: 600_000, lock: 30_000 }
/**
 * Sent with the begin of every transaction. PgBouncer refuses them as start parameters, and if it hands out
 * connections by transaction, session settings would reach others. The three cost some 30 µs.
 */
const limits = {
  statement_timeout: transactionLimitMilliseconds,
  lock_timeout: lockTimeoutMilliseconds,
  idle_in_transaction_session_timeout: silenceTimeoutMilliseconds,
}
/**
 * Plans single reads for any values. PostgreSQL does so after five executions, but never for a page: with
 * `limit` bound, a custom plan always looks cheaper.
 */
const readSetup = `set statement_timeout = ${readTimeoutMilliseconds};
  set lock_timeout = ${lockTimeoutMilliseconds};
  set plan_cache_mode = force_generic_plan`
/** An instance whose database takes longer for a trivial query should get no callers. */
const pingLimitMilliseconds = 1_500

/** A standby, or a primary that an operator has made so. */
const isReadOnly = sql<{ readonly: boolean }>`
  select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as readonly`

/** Opens a migrated database: one connection for single reads, a pool for all other work. */
export function openPostgres<Operations extends WriteOperations, NamedReads extends ReadOperations>(
  options: PostgresOptions,
  {
    operations,
    groupedOperations = {},
    reads: namedReads,
    singleReads = {},
    ...refusalOptions
  }: Omit<Registry<Operations, NamedReads>, 'writerEntry' | 'readerEntry' | 'refusals'>,
): DatabasePort<Operations, NamedReads> {
  const { poolSize, transactionPooler, isPatient } = options
  const losses = new ConnectionLosses()
  const config = clientConfig(options)
  const pool = new PooledConnections({ ...config, max: poolSize, idleTimeoutMillis: 60_000 }, losses)
  const pipeline = new PipelinedConnection({
    config,
    losses,
    setup: transactionPooler ? undefined : readSetup,
  })
  const newNames = (prefix: string) => (transactionPooler ? undefined : new StatementNames(prefix))
  const read = new Kysely<Database>({ dialect: postgresDialect(pipeline, { names: newNames('q') }) })
  // Separate names, because lists have enough forms to push out those of every other read.
  const single = new Kysely<Database>({ dialect: postgresDialect(pipeline, { names: newNames('s') }) })
  const ofWrites = isPatient
    ? {
        names: newNames('w'),
        transactionLimitMilliseconds: patience.transaction,
        limits: { ...limits, statement_timeout: patience.transaction, lock_timeout: patience.lock },
      }
    : { names: newNames('w'), transactionLimitMilliseconds, limits }
  const writes = new Writes({
    operations,
    groupedOperations,
    transactions: new Kysely<Database>({ dialect: postgresDialect(pool, ofWrites) }),
    groupTransactions: new Kysely<Database>({
      dialect: postgresDialect(pool, {
        ...ofWrites,
        limits: { ...limits, lock_timeout: groupLockTimeoutMilliseconds },
      }),
    }),
  })
  const ofReads = { names: newNames('r'), transactionLimitMilliseconds, limits }
  const refused = new RefusedWrites(refusalOptions)
  const reads = new Reads(namedReads, pool, { ...ofReads, poolSize })

  return {
    defersTally: true,
    read,
    // biome-ignore lint/suspicious/noExplicitAny: the registry's types are checked at the call (port.ts)
    query: async (name, input, options): Promise<any> =>
      (await singleReads[name]?.(single, input)) ?? reads.query(name, input, options),
    // biome-ignore lint/suspicious/noExplicitAny: the registry's types are checked at the call (port.ts)
    write: (name, input): Promise<any> => refused.note(name, writes.write(name, input)),
    async ping() {
      await within(pingLimitMilliseconds, sql`select 1 from roles limit 1`.execute(read))
    },
    /** A full disk shows only when something is written. */
    async refusesWrites() {
      const { rows } = await within(pingLimitMilliseconds, isReadOnly.execute(read))
      return rows[0]?.readonly ? 'read-only' : refused.refusal === 'full' ? 'full' : undefined
    },
    load: () => ({
      writes: { running: writes.underWay },
      lists: reads.load,
      connections: pool.load,
    }),
    /** Rewriting takes the owner of the tables, and a lock on each. */
    rewrite: async () =>
      'The files of PostgreSQL still have it until its owner runs `vacuum full` (docs/operations.md).',
    async close() {
      reads.close()
      await writes.close()
      await Promise.all([pool.close(), pipeline.close()])
    },
  }
}

function clientConfig({ url }: PostgresOptions): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'countersign',
    types,
    keepAlive: true,
    connectionTimeoutMillis: connectTimeoutMilliseconds,
    query_timeout: silenceTimeoutMilliseconds,
  }
}
