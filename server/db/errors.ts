/** The database cannot be used now: gone, full, read-only, or locked for too long. Answered with 503. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
}

/** A read was stopped because it ran longer than its limit (see `query` of the port). */
export class QueryTooSlow extends Error {
  override name = 'QueryTooSlow'
}

/** Nothing is broken, but too many already wait for their turn. Answered with 503. */
export class TooManyWaiting extends Error {
  override name = 'TooManyWaiting'
}

/** A fault at start that the operator of the database has to fix; `message` is one line for a person. */
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

/** True if nothing can be reached or used. After a lock or a limit the connection is sound. */
export function isConnectionLoss(error: unknown): boolean {
  return error instanceof DatabaseUnavailable && error.name === 'DatabaseUnavailable'
}

/** Carries the domain's refusals across threads; db/ does not know what they are. */
export interface RefusalCodec {
  /** The plain form of a refusal, or undefined for any other error. */
  toPlain(error: unknown): unknown
  fromPlain(plain: unknown): Error
}
