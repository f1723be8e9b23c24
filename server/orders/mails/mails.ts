/**
 * Mail about orders: what waits for a person, what became of an order that they created, and notes. It goes
 * to people who asked for it and may read orders when it is sent. It quotes no reason and no note: what was
 * mailed could not be erased.
 */
import { newestOfOrders, printed, type SealedEvent, sealedEvents, toldBy } from '../../audit/audit.ts'
import { pageLimitMilliseconds } from '../../db/port.ts'
import type { Db } from '../../db/tables.ts'
import {
  digest,
  findMailSettings,
  findPrompt,
  hasDueDigest,
  type MailKind,
  type MailParts,
  momentIn,
} from '../../mail/mail.ts'
import { Temporal } from '../../temporal.ts'
import { gatherMilliseconds, inWords, letterTo, zoneOf } from './letter.ts'
import { countedLimit, findCreated, findReader, ordersThatWait, type WaitingInput, whoWant } from './store.ts'

/** Whether a person may approve an order is asked when the mail is written. */
export const waitingMail: MailKind = {
  name: 'order-waits',
  gatherMilliseconds,
  /** All events have the same recipients, so one mail is about those after the first as well. */
  async follow(trx, events) {
    const first = events.find(({ subject_kind, kind }) => subject_kind === 'order' && kind === 'created')
    return first === undefined ? new Map() : new Map([[first.sequence, await findPrompt(trx)]])
  },
  write: (parts, { recipient, about }) => writeWaiting(parts, recipient, 'at-once', Number(about)),
}

export const digestMail: MailKind = {
  name: digest,
  async queue({ db, clock, defaultTimeZone }) {
    const nowMilliseconds = clock()
    if (!(await hasDueDigest(db.read, nowMilliseconds))) return false
    return db.write('queueDigests', { nowMilliseconds, defaultTimeZone })
  },
  write: (parts, { recipient }) => writeWaiting(parts, recipient, 'daily', null),
}

async function writeWaiting(
  parts: MailParts,
  recipient: string,
  wanted: 'at-once' | 'daily',
  first: number | null,
) {
  const { db, clock } = parts
  const reader = await findReader(db.read, Number(recipient))
  if (reader === undefined) return undefined
  if ((await findMailSettings(db.read, reader.id)).waiting !== wanted) return undefined
  const options = { limitMilliseconds: pageLimitMilliseconds, caller: 'mail' }
  const now = clock()
  const zone = zoneOf(reader, parts)
  const input = { byId: reader.id, nowMilliseconds: now, first, longBefore: weekBefore(now, zone) }
  const { orders, count, longCount } = await db.query('findWaiting', input, options)
  if (count === 0) return undefined
  const waits = count === 1 ? '1 order waits' : `${count.toLocaleString('en-US')} orders wait`
  const haveWaited = count === 1 ? 'it has' : longCount === 1 ? '1 has' : `${longCount} have`
  const long = longCount === 0 ? '' : `; ${haveWaited} waited longer than a week`
  const more = count > orders.length ? [`and ${(count - orders.length).toLocaleString('en-US')} more`] : []
  const link = `${parts.publicUrl()}/orders?${new URLSearchParams({ filter: 'waits:me' })}`
  return letterTo(reader, parts, {
    subject: `${waits} for your approval`,
    blocks: [
      wanted === 'daily'
        ? `As of ${momentIn(zone, now)}, ${waits} for your approval${long}:`
        : `${waits} for your approval:`,
      { items: [...orders.map(inWords), ...more] },
      { link, label: 'Review' },
    ],
    reason:
      wanted === 'daily'
        ? 'You get this mail once a day while orders wait for you.'
        : 'You get this mail when an order waits for you.',
  })
}

/** Looks at orders that were created from the line `first` of the log on; null for all orders. */
export async function findWaiting(
  snapshot: Db,
  { first, ...input }: Omit<WaitingInput, 'ids'> & { first: number | null },
) {
  if (first === null) return ordersThatWait(snapshot, { ...input, ids: null })
  const created = await newestOfOrders(snapshot, { kind: 'created', first, limit: countedLimit })
  return ordersThatWait(snapshot, { ...input, ids: created.map(({ subject_id }) => subject_id) })
}

/** A week of the calendar, whether or not the clocks changed in it. */
function weekBefore(at: number, timeZone: string): number {
  const zoned = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone)
  return zoned.subtract({ weeks: 1 }).epochMilliseconds
}

const outcomes: Record<string, string> = { approved: 'approved', rejected: 'rejected' }

/** Not to a creator who decided. */
export const decidedMail: MailKind = {
  name: 'order-decided',
  async follow(trx, events) {
    const decided = events.filter((event) => event.subject_kind === 'order' && event.kind in outcomes)
    const orders = await findCreated(trx, decided)
    const creators = [...orders.values()].flatMap((order) => order.creators)
    const asked = await whoWant(trx, 'decided', creators)
    return new Map(
      decided.map(({ sequence, subject_id, by_id }) => {
        const people = orders.get(subject_id)?.creators ?? []
        return [sequence, people.filter((person) => person !== by_id && asked.has(person))]
      }),
    )
  },
  async write(parts, { recipient, about }) {
    const { db } = parts
    const reader = await findReader(db.read, Number(recipient))
    const sequence = Number(about)
    const [event] = await sealedEvents(db.read, { first: sequence, last: sequence, direction: 'asc' })
    const order = event && (await findCreated(db.read, [event])).get(event.subject_id)
    if (reader === undefined || event === undefined || order === undefined) return undefined
    if (!(await findMailSettings(db.read, reader.id)).decided) return undefined
    return letterTo(reader, parts, {
      subject: `Order #${order.number} was ${outcomes[event.kind]}`,
      blocks: [
        `${decisionOf(event)} on ${momentIn(zoneOf(reader, parts), event.at)}:`,
        { items: [inWords(order)] },
        { link: `${parts.publicUrl()}/orders/${order.id}`, label: 'Open the order' },
      ],
      reason: 'You get this mail when an order that you created is approved or rejected.',
    })
  },
}

function decisionOf(event: SealedEvent): string {
  const { by, byName, for: absent, forName } = toldBy(event)
  const inPlace = absent === null ? '' : ` for ${printed(absent, forName)}`
  return `${printed(by, byName)} ${outcomes[event.kind]} your order${inPlace}`
}
