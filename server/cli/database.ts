import { existsSync } from 'node:fs'
import type { Stamp } from '../audit/event.ts'
import { machineStamp } from '../audit/stamp.ts'
import type { Refusal } from '../auth/accounts/roles/refusal.ts'
import { systemClock } from '../clock.ts'
import { readDatabase } from '../config.ts'
import { databaseFile } from '../db/address.ts'
import type { AppDatabase } from '../db/port.ts'
import { openAppDatabase } from '../operations.ts'
import type { Invocation } from './command.ts'
import { Refused } from './failures.ts'

/** The database that `serve` would use in the same place. */
export function databaseOf({ development }: Invocation) {
  return readDatabase(process.env, { development })
}

/** Opens the database for the time of `work`. */
export async function withDatabase<T>(
  invocation: Invocation,
  work: (db: AppDatabase) => Promise<T>,
): Promise<T> {
  const db = await openAppDatabase({ ...databaseOf(invocation), poolSize: 2 })
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

/** Opening a database makes one; what only reads it must not find a new and empty one behind a mistyped address. */
export function refuseMissingDatabase(url: string): void {
  const file = databaseFile(url)
  if (file !== undefined && !existsSync(file)) {
    throw new Refused('no-database', `DATABASE_URL: there is no database at ${file}`)
  }
}

/** Of what a command changes, now. */
export function commandStamp(): Stamp {
  return machineStamp(systemClock())
}

/** The answer of an account operation, or its refusal as one line about `subject`, which the command named. */
export function accepted<T extends object>(result: T | Refusal, subject: string): T {
  if (!('refused' in result)) return result
  throw refusalOf(result, subject)
}

export function refusalOf(refusal: Refusal, subject: string): Refused {
  switch (refusal.refused) {
    case 'name-taken':
      return new Refused(refusal.refused, `the name ${subject} is taken by a user or a client`)
    case 'email-taken':
      return new Refused(refusal.refused, 'another user has this email')
    case 'no-such-user':
      return new Refused(refusal.refused, `there is no user ${subject}`)
    case 'account-disabled':
      return new Refused(refusal.refused, `${subject} is disabled: enable the user first`)
    case 'no-such-client':
      return new Refused(refusal.refused, `there is no client ${subject}`)
    case 'role-taken':
      return new Refused(refusal.refused, `there is a role ${subject} already`)
    case 'role-held': {
      const holders =
        refusal.accounts === 1 ? 'an account still has it' : `${refusal.accounts} accounts still have it`
      return new Refused(
        refusal.refused,
        `the role ${subject} cannot be removed: ${holders} (user revoke, client revoke)`,
      )
    }
    case 'unknown-role':
      return new Refused(
        refusal.refused,
        `there is no role ${refusal.unknown.join(', ')}; the roles are ${refusal.known.join(', ')}`,
      )
  }
}
