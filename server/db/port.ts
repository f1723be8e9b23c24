import type { RefusalCodec } from './errors.ts'
import type { Refusal, RefusalOptions } from './refusals.ts'
import type { Db, Trx } from './tables.ts'

/**
 * A write operation: a plain function of its input and the database. Input and output are plain data
 * (structured-cloneable), so that it can run in another thread. Time, ids and random values come in the
 * input. If it throws, everything it wrote is rolled back.
 */
// biome-ignore lint/suspicious/noExplicitAny: the types of the registry give input and output of each
export type WriteOperation = (trx: Trx, input: any) => Promise<unknown>
export type WriteOperations = Record<string, WriteOperation>

/**
 * Does an operation for several inputs, in one transaction and few statements. Returns undefined for an input
 * it did nothing for; that one then runs alone.
 */
// biome-ignore lint/suspicious/noExplicitAny: as of WriteOperation
export type GroupedOperation = (trx: Trx, inputs: any[]) => Promise<unknown[]>
/** Keyed by the name of the operation. SQLite needs none, because its writer groups all writes. */
export type GroupedOperations = Record<string, GroupedOperation>

/**
 * A read that may take long: a plain function whose queries all see one snapshot. Input and output are plain
 * data, so that it can run in another thread.
 */
// biome-ignore lint/suspicious/noExplicitAny: as of WriteOperation
export type ReadOperation = (snapshot: Db, input: any) => Promise<unknown>
export type ReadOperations = Record<string, ReadOperation>

/**
 * Gives the same answer by a single statement, without a transaction or a turn; undefined if that is
 * impossible. Keyed by the name of the read. SQLite needs none, because its statements cost no round trip.
 */
// biome-ignore lint/suspicious/noExplicitAny: as of ReadOperation
export type SingleReads = Record<string, (db: Db, input: any) => Promise<unknown>>

export interface QueryOptions {
  /** How long the operation may run, not counting the wait for its turn. Less than 4 s. */
  limitMilliseconds: number
  /** The caller. Callers take turns when they have to wait. */
  caller: string
  /** Long reads, and those that follow each other, leave half of the readers to all others. */
  isLong?: boolean
}

/** How many writes may run or wait. One more is refused at once. */
export const waitingWritesLimit = 10_000

/** How long one page of a list may take before it is stopped (section 3 of the contract). */
export const pageLimitMilliseconds = 2_000

/** Lists that may wait for their turn: in all, and for one caller. */
export const waitingLists = { waiting: 512, waitingOfCaller: 128 }

/** Counts at this moment, by state: writes, lists, and connections in PostgreSQL's pool. */
export type DatabaseLoad = Record<string, Record<string, number>>

/**
 * The given value, without members that are not wanted. The compiler lets a spread bring some, and no
 * operation would read them: a member added to a body alone would be accepted and lost (ADR 70).
 */
type Exact<Wanted, Given> = Given extends Leaf
  ? Given
  : {
      [Name in keyof Given]: Name extends MemberOf<Wanted> ? Exact<ValueOf<Wanted, Name>, Given[Name]> : never
    }
type Leaf = readonly unknown[] | Uint8Array | string | number | bigint | boolean | null | undefined
/** The members of any part of a union. */
type MemberOf<T> = T extends unknown ? keyof T : never
type ValueOf<T, Name> = T extends unknown ? (Name extends keyof T ? T[Name] : never) : never

/** One port, two engines (ADR 1). Every difference between them lives in this folder. */
export interface DatabasePort<Operations extends WriteOperations, Reads extends ReadOperations> {
  /** Whether writes of orders leave changes that a job has to merge into the tally. */
  defersTally: boolean
  /** Queries outside a transaction. They see only committed, durable data. */
  read: Db
  /**
   * Runs the named read on one consistent snapshot, away from the event loop. Rejects with what it threw,
   * with `TooManyWaiting` or `DatabaseUnavailable`, or with `QueryTooSlow` once its queries together have run
   * longer than their limit; then they are stopped, too.
   */
  query<Name extends keyof Reads & string, Input extends Parameters<Reads[Name]>[1]>(
    name: Name,
    input: Input & Exact<Parameters<Reads[Name]>[1], Input>,
    options: QueryOptions,
  ): Promise<Awaited<ReturnType<Reads[Name]>>>
  /**
   * Runs the named operation in a transaction, and resolves only when the change is durable. Rejects with
   * what the operation threw or `TooManyWaiting` (nothing was written), or with `DatabaseUnavailable` (the
   * outcome is not known).
   */
  write<Name extends keyof Operations & string, Input extends Parameters<Operations[Name]>[1]>(
    name: Name,
    input: Input & Exact<Parameters<Operations[Name]>[1], Input>,
  ): Promise<Awaited<ReturnType<Operations[Name]>>>
  /** Rejects with `DatabaseUnavailable` if a trivial query gets no answer. */
  ping(): Promise<void>
  /** Why the database takes no changes now; undefined if it takes them. */
  refusesWrites(): Promise<Refusal | undefined>
  load(): DatabaseLoad
  /**
   * SQLite: rewrites the file and empties the write-ahead log, so that they have nothing that was deleted or
   * changed before. Returns what an operator still has to do for that; undefined for nothing.
   */
  rewrite(): Promise<string | undefined>
  /** Waits for running writes, then closes the database. */
  close(): Promise<void>
}

/** All that a service registers with its database. */
export interface Registry<Operations, Reads> extends RefusalOptions {
  operations: Operations
  /** PostgreSQL: batch forms of operations that many callers issue at once. */
  groupedOperations?: GroupedOperations
  reads: Reads
  /** PostgreSQL: one-statement forms of reads that many callers issue at once. */
  singleReads?: SingleReads
  /** SQLite: entry module of the writer thread; it registers the same operations. */
  writerEntry: URL
  /** SQLite: entry module of a reader thread; it registers the same reads. */
  readerEntry: URL
  refusals: RefusalCodec
}

/**
 * The types of everything registered, declared in `operations.ts`. A slice can therefore name an operation in
 * `db.write` without importing the registry, which stands above all slices.
 */
// biome-ignore lint/suspicious/noEmptyInterface: declared elsewhere
export interface Registered {}

export type AppDatabase = DatabasePort<Registered['operations'], Registered['reads']>

/** Opened to read only. */
export type ReadableDatabase = Omit<AppDatabase, 'write'>
