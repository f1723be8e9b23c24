import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from '#kysely'
import { systemNames } from '../../server/names.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { createTestDatabase, withRawDatabase } from './database.ts'
import { addEvents, addWaitingEvents, testLogKeys } from './log.ts'
import { publicUrl } from './service.ts'

const minute = 60_000

type T = { after(hook: () => unknown): void }

/** A database with a log of this size. */
export async function logDatabase(t: T, size = 0) {
  const { databaseUrl, drop } = await createTestDatabase()
  const db = await openAppDatabase({ databaseUrl })
  t.after(async () => {
    await db.close()
    await drop()
  })
  if (size > 0) await addEvents({ db, databaseUrl }, size, 0)
  return { db, databaseUrl }
}

/** The same with what an instance needs whose checkpoints others sign. */
export async function logInstance(t: T, size: number) {
  const { db, databaseUrl } = await logDatabase(t, size)
  const stopping = new AbortController()
  const lines: Record<string, unknown>[] = []
  const keep = (members: object, msg?: string) => void lines.push({ ...members, msg })
  const clock = { now: 1_800_000_000_000 }
  const instance = {
    databaseUrl,
    db,
    clock,
    stopping,
    parts: {
      db,
      keys: testLogKeys(),
      publicUrl: () => publicUrl,
      clock: () => clock.now,
      signal: stopping.signal,
      resolve: systemNames(),
      timeLimitMilliseconds: 300_000,
      log: { info: keep, warn: keep, error: keep },
    },
    grow: (count: number) => addEvents({ db, databaseUrl }, count),
    /** Adds events that wait to be sealed. */
    wait: (count: number) => addWaitingEvents({ databaseUrl }, count),
    /** Minutes later, also for the database, whose clock the rounds follow. */
    async nextMinute(minutes = 1) {
      clock.now += minutes * minute
      await instance.raw((raw) => sql`update leases set ends_at = 0`.execute(raw))
    },
    /** The lines of its log since the last call. */
    said: () => lines.splice(0),
    /** All reads of one turn of the event loop see the same. */
    async raw(work: Parameters<typeof withRawDatabase<unknown>>[1]) {
      await withRawDatabase(databaseUrl, work)
      await nextTurn()
    },
  }
  return instance
}
