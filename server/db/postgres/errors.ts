import pg from 'pg'
import { DatabaseUnavailable, LockTimeout, StatementTimeout } from '../errors.ts'

/** Not now, as against a fault in the statement. https://www.postgresql.org/docs/18/errcodes-appendix.html */
const unavailableClasses = /^(08|53|57P|58|F0|XX)/
/** Read-only (a standby), not enough privilege to write, and invalid transaction states after a lost connection. */
const unavailableCodes = new Set(['25006', '25P02', '25P03', '26000'])

/** Turns the errors of PostgreSQL and of its driver into the port's. */
export function translatePostgresError(error: unknown): unknown {
  if (error instanceof pg.DatabaseError) return translateServerError(error)
  if (!(error instanceof Error)) return error
  if (isConnectionError(error)) {
    return new DatabaseUnavailable(`the connection failed: ${messageOf(error)}`, { cause: error })
  }
  return error
}

/** Without a connection nothing can be served, whatever the reason: a changed password, a renamed database, TLS. */
export function translateConnectError(error: unknown): unknown {
  const translated = translatePostgresError(error)
  if (translated instanceof DatabaseUnavailable || !(error instanceof Error)) return translated
  return new DatabaseUnavailable(`the connection failed: ${messageOf(error)}`, { cause: error })
}

/** A name with several addresses fails with one error for each, and no message of its own. */
function messageOf(error: Error): string {
  if (!(error instanceof AggregateError)) return error.message
  return error.errors.map((one) => (one instanceof Error ? one.message : String(one))).join(', ')
}

function translateServerError(error: pg.DatabaseError): unknown {
  const code = error.code ?? ''
  if (code === '57014') return new StatementTimeout('a statement ran longer than its limit', { cause: error })
  if (code === '55P03') return new LockTimeout('a lock was held for too long', { cause: error })
  if (unavailableClasses.test(code) || unavailableCodes.has(code)) {
    return new DatabaseUnavailable(`PostgreSQL answered ${code}`, { cause: error })
  }
  return error
}

/** Serialization failure and deadlock: nothing was written, and running again is right. */
export function isConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === '40001' || error.code === '40P01')
}

const socketCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
])

/** The driver says these in words only. */
const driverMessages =
  /Connection terminated|Query read timeout|not queryable|timeout exceeded when trying to connect|timeout expired|Client was closed|server closed the connection|pool after calling end/

function isConnectionError(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException
  if (error instanceof AggregateError)
    return error.errors.every((one) => one instanceof Error && isConnectionError(one))
  return (code !== undefined && socketCodes.has(code)) || driverMessages.test(error.message)
}
