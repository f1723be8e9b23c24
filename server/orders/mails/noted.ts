import { eventsOfKinds, findMatches, printed, type SealedEvent, toldBy } from '../../audit/audit.ts'
import { pageLimitMilliseconds } from '../../db/port.ts'
import type { Db } from '../../db/tables.ts'
import { findMailSettings, type MailKind, momentIn } from '../../mail/mail.ts'
import { type OrderEventKind, transitions } from '../order.ts'
import { gatherMilliseconds, inWords, letterTo, zoneOf } from './letter.ts'
import { type CreatedOrder, findCreated, findReader, whoWant } from './store.ts'

const noted: OrderEventKind = 'noted'
const takesPart: readonly OrderEventKind[] = ['approval-given', transitions.approve.event, noted]

/** To those who created the order, or approved or noted it before. */
export const notedMail: MailKind = {
  name: 'order-noted',
  gatherMilliseconds,
  async follow(trx, event) {
    return event.subject_kind === 'order' && event.kind === noted
      ? whoWant(trx, 'noted', (await concernedBy(trx, event)).people)
      : []
  },
  async write(parts, { recipient, about }) {
    const { db, publicUrl } = parts
    const reader = await findReader(db.read, Number(recipient))
    if (reader === undefined || !(await findMailSettings(db.read, reader.id)).noted) return undefined
    const options = { limitMilliseconds: pageLimitMilliseconds, caller: 'mail' }
    const orders = await db.query('findNoted', { person: reader.id, first: Number(about) }, options)
    const [first] = orders
    if (first === undefined) return undefined
    const blocks = orders
      .slice(0, listed)
      .flatMap(({ order, notes }) => [
        `${saidOf(notes)} on ${momentIn(zoneOf(reader, parts), notes.at(-1)?.at ?? 0)}:`,
        { items: [inWords(order)] },
        { link: `${publicUrl()}/orders/${order.id}`, label: `Open order #${order.number}` },
      ])
    const more = orders.length > listed ? [`There are new notes on ${orders.length - listed} more.`] : []
    return letterTo(reader, parts, {
      subject: `New notes on ${orders.length === 1 ? `order #${first.order.number}` : `${orders.length} orders`}`,
      blocks: [...blocks, ...more],
      reason: 'You get this mail when someone writes a note on an order that you created, approved or noted.',
    })
  },
}

/** `Ann Lee (ann) wrote a note`, or `ann and bo wrote 3 notes, the last`. */
function saidOf(notes: readonly SealedEvent[]): string {
  const writers = new Set(
    notes.map((note) => {
      const { by, byName } = toldBy(note)
      return printed(by, byName)
    }),
  )
  const names = new Intl.ListFormat('en').format(writers)
  return notes.length === 1 ? `${names} wrote a note` : `${names} wrote ${notes.length} notes, the last`
}

/** How many orders a mail lists. */
const listed = 20
/** One mail is about no more than these. */
const notesLookedAt = 1_000

interface Noted {
  order: CreatedOrder
  notes: SealedEvent[]
}

/** The orders with notes that concern the person, from this line of the log on. */
export async function findNoted(
  snapshot: Db,
  { person, first }: { person: number; first: number },
): Promise<Noted[]> {
  const page = { direction: 'asc', offset: 0, limit: notesLookedAt } as const
  const orders = new Map<string, Noted>()
  for (const note of await findMatches(snapshot, first - 1, { kind: noted }, page)) {
    const { order, people } = await concernedBy(snapshot, note)
    if (order === undefined || !people.includes(person)) continue
    const { notes } = orders.get(order.id) ?? { notes: [] }
    orders.set(order.id, { order, notes: [...notes, note] })
  }
  return [...orders.values()]
}

/** A note is no news to its writer, nor is one that came with the order to anyone. */
async function concernedBy(
  db: Db,
  { subject_id: id, sequence, at, by_id }: SealedEvent,
): Promise<{ order: CreatedOrder | undefined; people: number[] }> {
  const order = await findCreated(db, id)
  if (order === undefined || (order.createdAt === at && order.createdById === by_id)) {
    return { order, people: [] }
  }
  const events = await eventsOfKinds(db, { kind: 'order', id }, takesPart)
  const before = events.filter((event) => event.sequence !== null && event.sequence < sequence)
  const people = new Set([...order.creators, ...before.flatMap((event) => [event.by_id, event.for_id])])
  return {
    order,
    people: [...people].filter((person) => person !== null).filter((person) => person !== by_id),
  }
}
