import type { Kysely, Transaction } from 'kysely'
import type { Database } from './tables.ts'

/**
 * A write operation: a plain function of its input and the database. Input and output are plain data
 * (structured-cloneable), so that it can run in another thread; time, ids and random values come in the input.
 * A throw rolls back everything it wrote.
 */
// biome-ignore lint/suspicious/noExplicitAny: the registry's own types give input and output of each operation
export type WriteOperation = (trx: Transaction<Database>, input: any) => Promise<unknown>
export type WriteOperations = Record<string, WriteOperation>

/** One port, two engines (ADR 0001). Everything in which they differ lives in this folder. */
export interface DatabasePort<Operations extends WriteOperations> {
  /** Queries outside a transaction; sees committed, durable data only. */
  read: Kysely<Database>
  /**
   * Runs queries on one consistent snapshot. Throws `QueryTooSlow` when they together ran longer than
   * `limitMilliseconds`; the work is then stopped, not only its answer.
   */
  readWithin<T>(limitMilliseconds: number, query: (snapshot: Transaction<Database>) => Promise<T>): Promise<T>
  /**
   * Runs the named operation in a transaction. Resolves only when the change is durable; rejects with what the
   * operation threw (nothing was written), or with `DatabaseUnavailable` (nothing was acknowledged).
   */
  write<Name extends keyof Operations & string>(
    name: Name,
    input: Parameters<Operations[Name]>[1],
  ): Promise<Awaited<ReturnType<Operations[Name]>>>
  /** Rejects with `DatabaseUnavailable` when a trivial query cannot be answered. */
  ping(): Promise<void>
  /** Copies the database, as one consistent snapshot, to a file that does not exist yet. */
  backup(file: string): Promise<void>
  /** Waits for the writes under way, then lets go of the database. */
  close(): Promise<void>
}
