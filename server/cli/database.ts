import { existsSync } from 'node:fs'
import { machineStamp, type Stamp } from '../caller/stamp.ts'
import { systemClock } from '../clock.ts'
import { readDatabase } from '../config.ts'
import { databaseFile } from '../db/address.ts'
import type { ConnectOptions } from '../db/open.ts'
import type { AppDatabase, ReadableDatabase } from '../db/port.ts'
import { openAppDatabase } from '../operations.ts'
import type { Invocation } from './command.ts'
import { Refused } from './failures.ts'

/** The database that `serve` would use in the same folder and environment. */
export function databaseOf({ development }: Invocation) {
  return readDatabase(process.env, { development })
}

export function withDatabase<T>(invocation: Invocation, work: (db: AppDatabase) => Promise<T>): Promise<T> {
  return withOpen(databaseOf(invocation), work)
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

/** The stamp of a change by a command. */
export function commandStamp(): Stamp {
  return machineStamp(systemClock())
}
