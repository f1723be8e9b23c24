import type { Kysely, Transaction } from '#kysely'
import type { Database } from './tables.ts'

/**
 * A write operation: a plain function of its input and the database. Input and output are plain data
 * (structured-cloneable), so that it can run in another thread; time, ids and random values come in the input.
 * A throw rolls back everything it wrote.
 */
// biome-ignore lint/suspicious/noExplicitAny: the registry's own types give input and output of each operation
export type WriteOperation = (trx: Transaction<Database>, input: any) => Promise<unknown>
export type WriteOperations = Record<string, WriteOperation>

/**
 * What an operation would do for each of several inputs, in one transaction and few statements. Undefined for an input
 * for which it did nothing: that one is run alone.
 */
// biome-ignore lint/suspicious/noExplicitAny: as of WriteOperation
export type GroupedOperation = (trx: Transaction<Database>, inputs: any[]) => Promise<unknown[]>
/** By the name of the operation. SQLite has no need of them: its writer has groups of its own. */
export type GroupedOperations = Record<string, GroupedOperation>

/**
 * A read operation that may take long: a plain function whose queries all see one snapshot. Input and output are plain
 * data, so that it can run in another thread.
 */
// biome-ignore lint/suspicious/noExplicitAny: as of WriteOperation
export type ReadOperation = (snapshot: Kysely<Database>, input: any) => Promise<unknown>
export type ReadOperations = Record<string, ReadOperation>

/**
 * The same answers by one statement each, outside of a transaction and of turns; undefined where that cannot be. By the
 * name of the read. SQLite has no need of them: its statements cost no round trip.
 */
// biome-ignore lint/suspicious/noExplicitAny: as of ReadOperation
export type SingleReads = Record<string, (db: Kysely<Database>, input: any) => Promise<unknown>>

export interface QueryOptions {
  /** What the operation may take, without the time for which it waits for its turn: less than 4 s. */
  limitMilliseconds: number
  /** Who asks: callers take turns where one has to wait for another. */
  caller: string
}

/** Writes that may be under way or wait; one more is refused at once instead of piling up. */
export const waitingWritesLimit = 10_000

/** Lists that may wait for their turn: of all callers, and of one. */
export const waitingLists = { waiting: 512, waitingOfCaller: 128 }

/** How many there are at this moment, by their state: writes, lists, and connections of PostgreSQL's pool. */
export type DatabaseLoad = Record<string, Record<string, number>>

/** One port, two engines (ADR 1). Everything in which they differ lives in this folder. */
export interface DatabasePort<Operations extends WriteOperations, Reads extends ReadOperations> {
  /** Whether writes of orders leave changes behind that `mergeTallyChanges` has to move into the tally now and then. */
  defersTally: boolean
  /** Queries outside a transaction; sees committed, durable data only. */
  read: Kysely<Database>
  /**
   * Runs the named read operation on one consistent snapshot, away from the event loop. Rejects with what it threw,
   * with `QueryTooSlow` when its queries together ran longer than their limit (they are then stopped, not only their
   * answer), `TooManyWaiting`, or `DatabaseUnavailable`.
   */
  query<Name extends keyof Reads & string>(
    name: Name,
    input: Parameters<Reads[Name]>[1],
    options: QueryOptions,
  ): Promise<Awaited<ReturnType<Reads[Name]>>>
  /**
   * Runs the named operation in a transaction. Resolves only when the change is durable; rejects with what the
   * operation threw or `TooManyWaiting` (nothing was written), or with `DatabaseUnavailable` (nothing was acknowledged).
   */
  write<Name extends keyof Operations & string>(
    name: Name,
    input: Parameters<Operations[Name]>[1],
  ): Promise<Awaited<ReturnType<Operations[Name]>>>
  /** Rejects with `DatabaseUnavailable` when a trivial query cannot be answered. */
  ping(): Promise<void>
  load(): DatabaseLoad
  /** Copies the database, as one consistent snapshot, to a file that does not exist yet. */
  backup(file: string): Promise<void>
  /** Waits for the writes under way, then lets go of the database. */
  close(): Promise<void>
}

/**
 * The types of what is registered: `operations.ts` declares them. So a slice names an operation in `db.write`, and
 * imports nothing of the registry, which stands over all slices.
 */
// biome-ignore lint/suspicious/noEmptyInterface: declared elsewhere
export interface Registered {}

export type AppDatabase = DatabasePort<Registered['operations'], Registered['reads']>
