import * as audit from './audit/operations.ts'
import * as auth from './auth/operations.ts'
import { endLease, holdLease } from './db/lease.ts'
import type { ConnectOptions } from './db/open.ts'
import type { AppDatabase } from './db/port.ts'
import { seedDemo } from './demo/demo.ts'
import * as erasure from './erasure/operations.ts'
import { expiredKeys } from './http/idempotency.ts'
import { eventMailer } from './mail/mail.ts'
import * as mail from './mail/operations.ts'
import * as orders from './orders/operations.ts'
import * as outbox from './outbox/operations.ts'
import { problemCodec } from './problems/problems.ts'
import { jobRunner } from './upkeep.ts'

/** The work that the service does by the clock (upkeep.ts). */
export const jobs = [...audit.jobs, ...orders.jobs, ...auth.jobs, ...mail.jobs, expiredKeys]

/** Every kind of mail that the service sends, in the order of turns: those about security come first. */
export const mailKinds = [...auth.mailKinds, ...orders.mailKinds]

/** Every write operation by name; `db.write` takes its types from here. */
export const operations = {
  ...audit.writes,
  ...auth.writes,
  ...orders.writes,
  ...outbox.writes,
  ...mail.writes,
  ...erasure.writes,
  runJob: jobRunner(jobs),
  holdLease,
  endLease,
  queueEventMails: eventMailer(mailKinds),
  seedDemo,
}

/** Every read that may take long, by name; `db.query` takes its types from here. */
export const reads = { ...audit.reads, ...auth.reads, ...orders.reads }

declare module './db/port.ts' {
  interface Registered {
    operations: typeof operations
    reads: typeof reads
  }
}

/** The database port with the operations and reads of this service. */
export async function openAppDatabase(options: ConnectOptions): Promise<AppDatabase> {
  // Imported only here, because SQLite's threads load this module and open nothing with it.
  const { openDatabase } = await import('./db/open.ts')
  return openDatabase({
    ...options,
    operations,
    groupedOperations: orders.groupedWrites,
    reads,
    singleReads: orders.singleReads,
    writerEntry: new URL('./writer.ts', import.meta.url),
    readerEntry: new URL('./reader.ts', import.meta.url),
    refusals: problemCodec,
    idleOperations: [
      'runJob',
      'holdLease',
      'endLease',
      'queueEventMails',
    ] satisfies (keyof typeof operations)[],
  })
}
