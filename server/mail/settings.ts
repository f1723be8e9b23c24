import { sql } from '#kysely'
import type { Stamp } from '../caller/stamp.ts'
import { requireStanding } from '../caller/standing.ts'
import { tooFarAhead } from '../clock.ts'
import type { Db, Trx } from '../db/tables.ts'
import { Temporal } from '../temporal.ts'
import { insertMail } from './store.ts'

export const waitingChoices = ['at-once', 'daily', 'never'] as const

/** The mail that a person wants about orders. */
export interface MailSettings {
  /** Orders that wait for the person: each soon after it was created, all once a day, or none. */
  waiting: (typeof waitingChoices)[number]
  /** The hour of the daily mail, in the zone of the person: 0 to 23. */
  hour: number
  /** Whether an order that the person created was approved or rejected. */
  decided: boolean
  /** Whether someone wrote a note on an order that the person created, approved or noted. */
  noted: boolean
}

const withoutRow: MailSettings = { waiting: 'never', hour: 8, decided: false, noted: false }

export async function findMailSettings(db: Db, principalId: number): Promise<MailSettings> {
  const row = await db
    .selectFrom('mail_settings')
    .select(['waiting', 'hour', 'decided', 'noted'])
    .where('principal_id', '=', principalId)
    .executeTakeFirst()
  return row === undefined ? withoutRow : { ...row, decided: row.decided === 1, noted: row.noted === 1 }
}

export interface PutMailSettings {
  settings: MailSettings
  /** That of the person, for the first daily mail. */
  timeZone: string
  /** The stamp names the person. */
  stamp: Stamp & { byId: number }
}

/** Throws `authentication-required`. */
export async function putMailSettings(
  trx: Trx,
  { settings, timeZone, stamp }: PutMailSettings,
): Promise<void> {
  await requireStanding(trx, stamp)
  const { byId: principalId, nowMilliseconds } = stamp
  const { waiting, hour } = settings
  const next = waiting === 'daily' ? nextDigest(timeZone, hour, nowMilliseconds) : null
  const [decided, noted] = [Number(settings.decided), Number(settings.noted)]
  const values = { waiting, hour, decided, noted, next_digest_at: next }
  await trx
    .insertInto('mail_settings')
    .values({ principal_id: principalId, ...values })
    .onConflict((conflict) => conflict.column('principal_id').doUpdateSet(values))
    .execute()
}

/**
 * The first time after the instant when the clocks of the zone show this hour. On a day that skips it, the
 * hour that they show instead; on a day that has it twice, the first.
 */
export function nextDigest(timeZone: string, hour: number, afterMilliseconds: number): number {
  const after = Temporal.Instant.fromEpochMilliseconds(afterMilliseconds).toZonedDateTimeISO(timeZone)
  const on = (days: number) =>
    after.toPlainDate().add({ days }).toZonedDateTime({ timeZone, plainTime: { hour } }).epochMilliseconds
  return [on(0), on(1)].find((at) => at > afterMilliseconds) ?? on(2)
}

/** Everyone who wants mail about each order that waits for them. */
export async function findPrompt(trx: Trx): Promise<number[]> {
  const rows = await trx
    .selectFrom('mail_settings')
    .select('principal_id')
    .where('waiting', '=', 'at-once')
    .execute()
  return rows.map((row) => row.principal_id)
}

export const digest = 'digest'

/** How far ahead the next daily mail can be: a zone can skip a day. */
const longestWaitMilliseconds = 50 * 3_600_000

const isDue = (nowMilliseconds: number) =>
  sql<boolean>`(next_digest_at <= ${nowMilliseconds}
    or next_digest_at > ${tooFarAhead(nowMilliseconds, longestWaitMilliseconds)})`

export async function hasDueDigest(db: Db, nowMilliseconds: number): Promise<boolean> {
  const due = db.selectFrom('mail_settings').select('principal_id').where(isDue(nowMilliseconds))
  return (await due.limit(1).executeTakeFirst()) !== undefined
}

/** Few, because other writes wait for it. */
const digestsOfBatch = 50

/**
 * Queues the daily mails that are due, and plans the next ones. One whose recipient has moved to another zone
 * meanwhile, or that was planned by a clock that was ahead, is only planned again. Returns whether there may
 * be more.
 */
export async function queueDigests(
  trx: Trx,
  { nowMilliseconds, defaultTimeZone }: { nowMilliseconds: number; defaultTimeZone: string },
): Promise<boolean> {
  const due = await trx
    .selectFrom('mail_settings')
    .innerJoin('users', 'users.principal_id', 'mail_settings.principal_id')
    .select(['mail_settings.principal_id as id', 'hour', 'time_zone as timeZone', 'next_digest_at as at'])
    .where(isDue(nowMilliseconds))
    .$narrowType<{ at: number }>()
    .orderBy('next_digest_at')
    .limit(digestsOfBatch)
    .execute()
  for (const { id, hour, timeZone, at } of due) {
    const zone = timeZone ?? defaultTimeZone
    const { numUpdatedRows } = await trx
      .updateTable('mail_settings')
      .set('next_digest_at', nextDigest(zone, hour, nowMilliseconds))
      .where('principal_id', '=', id)
      .where('next_digest_at', '=', at)
      .executeTakeFirst()
    const isItsHour = at <= nowMilliseconds && nextDigest(zone, hour, at - 1) === at
    if (numUpdatedRows === 1n && isItsHour) {
      await insertMail(trx, { kind: digest, recipient: String(id), nowMilliseconds })
    }
  }
  return due.length === digestsOfBatch
}
