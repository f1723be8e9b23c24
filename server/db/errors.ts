class NamedError extends Error {
  override name = this.constructor.name
}

/** The database cannot be used now: gone, full, read-only, or locked for too long. Answered with 503. */
export class DatabaseUnavailable extends NamedError {
  /** Why it takes no changes, if it can still be read. */
  readonly refusesWrites: 'full' | 'read-only' | undefined

  constructor(
    message: string,
    { refusesWrites, ...options }: ErrorOptions & Pick<Partial<DatabaseUnavailable>, 'refusesWrites'> = {},
  ) {
    super(message, options)
    this.refusesWrites = refusesWrites
  }
}

/** True if the database can be read and takes no changes. This is reported once (refusals.ts). */
export function isRefusedChange(error: unknown): boolean {
  return error instanceof DatabaseUnavailable && error.refusesWrites !== undefined
}

/** A read was stopped because it ran longer than its limit (see `query` of the port). */
export class QueryTooSlow extends NamedError {}

/** Nothing is broken, but too many requests are already waiting. Answered with 503. */
export class TooManyWaiting extends NamedError {}

/** A fault at start that the operator of the database has to fix; `message` is one line for a person. */
export class DatabaseRefused extends NamedError {}

/**
 * Gives a refusal another subject: a copy has two addresses and a restore a file, while the rest of db/ says
 * DATABASE_URL.
 */
export async function about<T>(subject: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof DatabaseRefused)) throw error
    throw new DatabaseRefused(error.message.replace(/^DATABASE_URL: /, `${subject}: `), { cause: error })
  }
}

/** The database works, but stopped a statement at its time limit. Nothing was written. Answered with 503. */
export class TimedOut extends DatabaseUnavailable {}

/** Another transaction held a row for longer than a write waits. */
export class LockTimeout extends TimedOut {}

/** A statement ran longer than its limit. */
export class StatementTimeout extends TimedOut {}

/**
 * True if the database cannot be reached or used at all. After a lock or a time limit, the connection still
 * works.
 */
export function isConnectionLoss(error: unknown): boolean {
  return error instanceof DatabaseUnavailable && error.name === 'DatabaseUnavailable'
}

/** Carries the domain's refusals across threads; db/ does not know what they are. */
export interface RefusalCodec {
  /** The plain form of a refusal, or undefined for any other error. */
  toPlain(error: unknown): unknown
  fromPlain(plain: unknown): Error
}
