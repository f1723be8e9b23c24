/** The database cannot be used now: gone, full, read-only, locked for too long. Answered with 503. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
}

/** A read was stopped because it ran longer than its limit (see `query` of the port). */
export class QueryTooSlow extends Error {
  override name = 'QueryTooSlow'
}

/** Nothing is broken, and too much waits for its turn already. Answered with 503. */
export class TooManyWaiting extends Error {
  override name = 'TooManyWaiting'
}

/** A start-up fault of the database that its operator has to mend; `message` is one line for a person. */
export class DatabaseRefused extends Error {
  override name = 'DatabaseRefused'
}

/** Another transaction held a row for longer than a write waits. Nothing was written. */
export class LockTimeout extends DatabaseUnavailable {
  override name = 'LockTimeout'
}

/** The server stopped a statement that ran longer than its limit. Nothing was written. */
export class StatementTimeout extends DatabaseUnavailable {
  override name = 'StatementTimeout'
}

/** Nothing can be reached or used: not a lock or a limit that was met, after which the connection is sound. */
export function isConnectionLoss(error: unknown): boolean {
  return error instanceof DatabaseUnavailable && error.name === 'DatabaseUnavailable'
}

/** Carries the domain's own refusals across the thread boundary; db/ does not know what they are. */
export interface RefusalCodec {
  /** The plain form of a refusal, or undefined for any other error. */
  toPlain(error: unknown): unknown
  fromPlain(plain: unknown): Error
}
