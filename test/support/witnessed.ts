import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from '#kysely'
import { readVerifierKey, spellVerifierKey } from '../../client/src/note.ts'
import { originOf, publishedKeys } from '../../server/audit/checkpoint.ts'
import { cosignedCheckpoint } from '../../server/audit/store.ts'
import { reportOnWitnesses } from '../../server/audit/witnesses/report.ts'
import { Witnessing } from '../../server/audit/witnesses/watch.ts'
import type { Witnesses } from '../../server/audit/witnesses/witnesses.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { createTestDatabase, withRawDatabase } from './database.ts'
import { addEvents, testLogKeys } from './log.ts'
import { publicUrl } from './service.ts'
import type { Signer } from './signed-log.ts'
import { startWitness } from './witness.ts'

type T = { after(hook: () => unknown): void }
const minute = 60_000

/** The key under which the log is known, in each era. */
export async function logKey(era = 1) {
  const [published] = await publishedKeys(testLogKeys(), originOf(publicUrl, era))
  return readVerifierKey(published?.verifierKey ?? '')
}

interface Other {
  signer: Signer
  url: string
}

/** As `LOG_WITNESSES`. */
export const settingOf = (others: readonly Other[]) =>
  others.map(({ signer, url }) => `${spellVerifierKey(signer.key)} ${url}`).join(',')

/** A database with a log of this size, as an instance sees it that asks these witnesses. */
export async function instanceOf(t: T, size: number, others: readonly Other[], quorum = others.length) {
  const { databaseUrl, drop } = await createTestDatabase()
  const db = await openAppDatabase({ databaseUrl })
  t.after(async () => {
    await db.close()
    await drop()
  })
  const stopping = new AbortController()
  const lines: Record<string, unknown>[] = []
  const keep = (members: object, msg?: string) => void lines.push({ ...members, msg })
  const witnesses: Witnesses = { list: others.map(({ signer: { key }, url }) => ({ key, url })), quorum }
  const clock = { now: 1_800_000_000_000 }
  const start = () =>
    new Witnessing({
      db,
      keys: testLogKeys(),
      publicUrl: () => publicUrl,
      witnesses,
      clock: () => clock.now,
      signal: stopping.signal,
      timeLimitMilliseconds: 300_000,
      log: { info: keep, warn: keep },
      ...instance.options,
    })
  const instance = {
    db,
    clock,
    stopping,
    witnesses,
    options: {},
    /** One more process. */
    start,
    grow: (count: number) => addEvents({ db, databaseUrl }, count),
    /** A minute later, for the database, whose clock the rounds follow. */
    async nextMinute() {
      clock.now += minute
      await instance.raw((raw) => sql`update leases set ends_at = 0`.execute(raw))
    },
    /** The lines of its log since the last call. */
    said: () => lines.splice(0),
    report: () => reportOnWitnesses(db.read, witnesses),
    cosigned: () => cosignedCheckpoint(db.read),
    /** All reads of one turn of the event loop see the same. */
    async raw(work: Parameters<typeof withRawDatabase<unknown>>[1]) {
      await withRawDatabase(databaseUrl, work)
      await nextTurn()
    },
  }
  if (size > 0) await addEvents({ db, databaseUrl }, size, 0)
  return instance
}

export async function threeWitnesses(t: T) {
  const keys = [await logKey()]
  return [await startWitness(t, keys), await startWitness(t, keys), await startWitness(t, keys)] as const
}

export const failuresOf = (lines: Record<string, unknown>[]) =>
  lines.filter(({ event }) => event === 'witness').map(({ failure }) => failure)
