import { type RawBuilder, type SqlBool, sql } from '#kysely'
import type { Place } from '../../proof/place.ts'
import { tooFarAhead } from '../clock.ts'
import type { Db, Trx } from '../db/tables.ts'
import { removal } from '../upkeep.ts'

const minute = 60_000
const hour = 60 * minute

/** Between one attempt and the next; after the last pause the mail is dropped. About a day together. */
const pausesMilliseconds = [1, 4, 15, 40, 120, 240, 420, 600].map((minutes) => minutes * minute)

/** How long a sent mail is remembered. */
const rememberedMilliseconds = hour

export interface NewMail {
  kind: string
  /** An email, or the id of an account. */
  recipient: string
  about?: string
  nowMilliseconds: number
  /** How many mails of the kind may wait, if anyone can ask for them. */
  atMost?: number
  /** How long it waits for more to say. */
  gatherMilliseconds?: number | undefined
}

/** Does nothing if the same mail waits already, or one that gathers. */
export async function insertMail(trx: Trx, mail: NewMail): Promise<void> {
  if (mail.gatherMilliseconds !== undefined && (await renewMail(trx, mail))) return
  const { kind, recipient, about = '', nowMilliseconds: now, atMost, gatherMilliseconds: gather } = mail
  const ofKind = sql`select 1 from mails where kind = ${kind} and sent_at is null`
  const isFree =
    atMost === undefined
      ? sql`true`
      : sql`(select count(*) from (${ofKind} limit ${atMost}) as waiting) < ${atMost}`
  const due = now + (gather ?? 0)
  await sql`insert into mails (kind, recipient, about, queued_at, due_at, attempts)
    select ${kind}, ${recipient}, ${about}, cast(${now} as bigint), cast(${due} as bigint), 0
    where ${isFree}
    on conflict (kind, recipient, about) where sent_at is null do nothing`.execute(trx)
}

/** How long a mail that cannot be sent gathers. */
const gatheredMilliseconds = 24 * hour

/**
 * A mail that was tried without success will be about the news as well, so its attempts begin again. A
 * sender that has it in hand sees by the attempts that it left something out. Returns false if none waits.
 */
async function renewMail(trx: Trx, mail: NewMail): Promise<boolean> {
  const { kind, recipient, nowMilliseconds: now, gatherMilliseconds: gather } = mail
  const soon = now + minute
  // One that waits for nothing is about the newest request alone, however old it is.
  const since = gather === 0 ? 0 : now - gatheredMilliseconds
  const { numUpdatedRows } = await trx
    .updateTable('mails')
    .set({ attempts: 0, due_at: sql<number>`case when due_at < ${soon} then due_at else ${soon} end` })
    .where('kind', '=', kind)
    .where('recipient', '=', recipient)
    .where('sent_at', 'is', null)
    .where('queued_at', '>', since)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** The recipients for whom a mail of the kind waits that was not tried yet. */
export async function findGathering(trx: Trx, kind: string): Promise<string[]> {
  const rows = await trx
    .selectFrom('mails')
    .select('recipient')
    .where('kind', '=', kind)
    .where('sent_at', 'is', null)
    .where('attempts', '=', 0)
    .execute()
  return rows.map(({ recipient }) => recipient)
}

export interface QueuedMail {
  id: number
  kind: string
  recipient: string
  about: string
  attempts: number
}

/** The mail of each kind that has been due for longest. Other kinds are for a newer version. */
export async function dueMails(
  db: Db,
  kinds: readonly string[],
  nowMilliseconds: number,
): Promise<QueuedMail[]> {
  const names = kinds.map((kind) => sql`select cast(${kind} as text) as kind`)
  const ahead = tooFarAhead(nowMilliseconds, Math.max(...pausesMilliseconds))
  const first = (due: RawBuilder<SqlBool>) =>
    sql`(select id from mails where mails.kind = kinds.kind and sent_at is null and ${due}
      order by due_at, id limit 1)`
  const { rows } = await sql<QueuedMail>`select id, kind, recipient, about, attempts from mails where id in (
    select coalesce(${first(sql`due_at <= ${nowMilliseconds}`)}, ${first(sql`due_at > ${ahead}`)})
    from (${sql.join(names, sql` union all `)}) as kinds)`.execute(db)
  return rows
}

/** Whether any mail of the kind waits. */
export async function isQueued(db: Db, kind: string): Promise<boolean> {
  const mail = db.selectFrom('mails').select('id').where('kind', '=', kind).where('sent_at', 'is', null)
  return (await mail.limit(1).executeTakeFirst()) !== undefined
}

/** Takes the mails of the kind that have waited longest out of the queue, and returns their recipients. */
export async function takeRecipients(
  trx: Trx,
  { kind, limit }: { kind: string; limit: number },
): Promise<string[]> {
  const rows = await trx
    .deleteFrom('mails')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('mails')
        .select('id')
        .where('kind', '=', kind)
        .where('sent_at', 'is', null)
        .orderBy('due_at')
        .orderBy('id')
        .limit(limit),
    )
    .returning('recipient')
    .execute()
  return rows.map(({ recipient }) => recipient)
}

export const isExhausted = ({ attempts }: QueuedMail) => attempts >= pausesMilliseconds.length

/**
 * Counts an attempt before it is made, and puts off the next one. So no other instance makes the same
 * attempt, and a process that dies meanwhile does not repeat it at once. Returns false if another instance
 * was first.
 */
export async function claimMail(
  trx: Trx,
  { id, attempts, nowMilliseconds }: Pick<QueuedMail, 'id' | 'attempts'> & { nowMilliseconds: number },
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('mails')
    .set({ attempts: attempts + 1, due_at: nowMilliseconds + (pausesMilliseconds[attempts] ?? 0) })
    .where('id', '=', id)
    .where('attempts', '=', attempts)
    .where('sent_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** A mail that was sent after `attempts`, about the log up to the line `readTo`. */
interface SentMail extends Pick<QueuedMail, 'id' | 'attempts'> {
  principalId: number
  nowMilliseconds: number
  readTo: number
  gatherMilliseconds?: number | undefined
}

/**
 * Remembers for an hour that the mail was sent, and to which account. If it was to be about more meanwhile,
 * another mail will be.
 */
export async function noteSentMail(trx: Trx, mail: SentMail): Promise<void> {
  const { id, attempts, principalId, nowMilliseconds, readTo, gatherMilliseconds } = mail
  const sent = await trx
    .updateTable('mails')
    .set({ principal_id: principalId, sent_at: nowMilliseconds })
    .where('id', '=', id)
    .returning(['kind', 'recipient', 'attempts'])
    .executeTakeFirst()
  if (sent === undefined || sent.attempts === attempts || gatherMilliseconds === undefined) return
  const { kind, recipient } = sent
  await insertMail(trx, { kind, recipient, about: String(readTo + 1), nowMilliseconds, gatherMilliseconds })
}

/** For a mail that is not to be sent any more, unless it is to be about more meanwhile. */
export async function dropMail(
  trx: Trx,
  { id, attempts }: Pick<QueuedMail, 'id' | 'attempts'>,
): Promise<void> {
  await trx.deleteFrom('mails').where('id', '=', id).where('attempts', '=', attempts).execute()
}

/** How many mails of the kind went to the account in the last hour, but not by a clock that was ahead. */
export async function countSent(
  db: Db,
  { kind, principalId, nowMilliseconds }: { kind: string; principalId: number; nowMilliseconds: number },
): Promise<number> {
  const { count } = await db
    .selectFrom('mails')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('principal_id', '=', principalId)
    .where('kind', '=', kind)
    .where('sent_at', '>', nowMilliseconds - rememberedMilliseconds)
    .where('sent_at', '<=', tooFarAhead(nowMilliseconds, 0))
    .executeTakeFirstOrThrow()
  return count
}

/** How many mails of the kind wait for the recipient. */
export async function countWaiting(
  db: Db,
  { kind, recipient }: Pick<NewMail, 'kind' | 'recipient'>,
): Promise<number> {
  const { count } = await db
    .selectFrom('mails')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('kind', '=', kind)
    .where('recipient', '=', recipient)
    .where('sent_at', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}

/** How many mails wait, and when the oldest was queued. */
export async function waitingMails(db: Db): Promise<{ count: number; oldestAt: number | null }> {
  return db
    .selectFrom('mails')
    .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.min('queued_at').as('oldestAt')])
    .where('sent_at', 'is', null)
    .executeTakeFirstOrThrow()
}

/**
 * Up to where events have been looked at, locked until the transaction ends; at first the end of the log,
 * because nobody wants mail about the past.
 */
export async function lockPlace(trx: Trx, end: Place): Promise<Place> {
  await trx
    .insertInto('mail_place')
    .values({ id: 1, ...end })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
  return trx.updateTable('mail_place').set('id', 1).returning(['era', 'sequence']).executeTakeFirstOrThrow()
}

export async function findPlace(db: Db): Promise<Place | undefined> {
  return db.selectFrom('mail_place').select(['era', 'sequence']).executeTakeFirst()
}

export async function movePlace(trx: Trx, place: Place): Promise<void> {
  await trx.updateTable('mail_place').set(place).execute()
}

export const sentMails = removal({
  name: 'removeSentMails',
  table: 'mails',
  key: ['id'],
  since: 'sent_at',
  keptMilliseconds: () => rememberedMilliseconds,
  batch: 50,
})
