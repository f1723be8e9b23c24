import { existsSync } from 'node:fs'
import { machineStamp, type Stamp } from '../caller/stamp.ts'
import { systemClock } from '../clock.ts'
import { readDatabase } from '../config.ts'
import { databaseFile } from '../db/address.ts'
import type { ConnectOptions } from '../db/open.ts'
import { type AppDatabase, pageLimitMilliseconds, type ReadableDatabase } from '../db/port.ts'
import { openAppDatabase } from '../operations.ts'
import type { Invocation, Outcome } from './command.ts'
import { Refused } from './failures.ts'
import { grouped } from './output.ts'

/** The database that `serve` would use in the same folder and environment. */
export function databaseOf({ development }: Invocation) {
  return readDatabase(process.env, { development })
}

export function withDatabase<T>(
  invocation: Invocation,
  work: (db: AppDatabase) => Promise<T>,
  options: Pick<ConnectOptions, 'isPatient'> = {},
): Promise<T> {
  return withOpen({ ...databaseOf(invocation), ...options }, work)
}

/** For a command that only reads: it neither makes nor migrates a database, and works on a read-only disk. */
export function withDatabaseToRead<T>(
  invocation: Invocation,
  work: (db: ReadableDatabase) => Promise<T>,
): Promise<T> {
  return withOpen({ ...databaseOf(invocation), readOnly: true }, work)
}

async function withOpen<T>(options: ConnectOptions, work: (db: AppDatabase) => Promise<T>): Promise<T> {
  const db = await openAppDatabase({ ...options, poolSize: 2 })
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

/**
 * Opening a database creates it if it is missing. A command that only reads must not report an empty database
 * behind a mistyped address.
 */
export function refuseMissingDatabase(url: string): void {
  const file = databaseFile(url)
  if (file !== undefined && !existsSync(file)) {
    throw new Refused('no-database', `DATABASE_URL: there is no database at ${file}`)
  }
}

/** The outcome of a change, with a hint if nobody could approve some pending orders after it. */
export async function withStranded(db: AppDatabase, outcome: Outcome): Promise<Outcome> {
  const limits = { limitMilliseconds: pageLimitMilliseconds, caller: 'command' }
  const counting = db.query('countStranded', { nowMilliseconds: systemClock() }, limits)
  // The change is made: if counting takes too long, that is no fault of it.
  const count = await counting.catch(() => 0)
  if (count === 0) return outcome
  const line = `${grouped(count)} pending ${count === 1 ? 'order' : 'orders'} could be approved by nobody now: search for waits:nobody.`
  return { ...outcome, hint: outcome.hint === undefined ? line : `${outcome.hint}\n${line}` }
}

export function commandStamp(): Stamp {
  return machineStamp(systemClock())
}
