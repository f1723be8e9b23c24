import { type RawBuilder, sql } from '#kysely'
import {
  type EventOfOrder,
  firstActs,
  newestOfOrders,
  printed,
  sealedEventsAt,
  toldBy,
} from '../../audit/audit.ts'
import { pageLimitMilliseconds } from '../../db/port.ts'
import type { Db } from '../../db/tables.ts'
import { findMailSettings, type MailKind, momentIn } from '../../mail/mail.ts'
import { type OrderEventKind, transitions } from '../order.ts'
import { gatherMilliseconds, inWords, letterTo, zoneOf } from './letter.ts'
import {
  type CreatedOrder,
  countedLimit,
  findCreated,
  findReader,
  type ListedOrder,
  listed,
  whoWant,
} from './store.ts'

const noted: OrderEventKind = 'noted'
const takesPart: readonly OrderEventKind[] = ['approval-given', transitions.approve.event, noted]

/** To those who created the order, or approved or noted it before. */
export const notedMail: MailKind = {
  name: 'order-noted',
  gatherMilliseconds,
  async follow(trx, events) {
    const notes = events.filter((event) => event.subject_kind === 'order' && event.kind === noted)
    if (notes.length === 0) return new Map()
    const orders = await findCreated(trx, notes)
    const wanting = sql`select principal_id from mail_settings where noted = 1`
    const concerned = await whomConcern(trx, orders, wanting)
    const people = notes.map((note) => [note.sequence, concerned(note)] as const)
    const asked = await whoWant(
      trx,
      'noted',
      people.flatMap(([, all]) => all),
    )
    return new Map(people.map(([sequence, all]) => [sequence, all.filter((person) => asked.has(person))]))
  },
  async write(parts, { recipient, about }) {
    const { db, publicUrl } = parts
    const reader = await findReader(db.read, Number(recipient))
    if (reader === undefined || !(await findMailSettings(db.read, reader.id)).noted) return undefined
    const options = { limitMilliseconds: pageLimitMilliseconds, caller: 'mail' }
    const { orders, count } = await db.query(
      'findNoted',
      { person: reader.id, first: Number(about) },
      options,
    )
    const [first] = orders
    if (first === undefined) return undefined
    const blocks = orders.flatMap((news) => [
      `${saidOf(news)} on ${momentIn(zoneOf(reader, parts), news.lastAt)}:`,
      { items: [inWords(news.order)] },
      { link: `${publicUrl()}/orders/${news.order.id}`, label: `Open order #${news.order.number}` },
    ])
    const more = count > orders.length ? [`There are new notes on ${count - orders.length} more.`] : []
    return letterTo(reader, parts, {
      subject: `New notes on ${count === 1 ? `order #${first.order.number}` : `${count} orders`}`,
      blocks: [...blocks, ...more],
      reason: 'You get this mail when someone writes a note on an order that you created, approved or noted.',
    })
  },
}

/** `Ann Lee (ann) wrote a note`, or `ann, bo and 2 others wrote 5 notes, the last`. */
function saidOf({ writers, writerCount, count }: Noted): string {
  const left = writerCount - writers.length
  const others = left === 0 ? [] : [left === 1 ? 'another person' : `${left} others`]
  const names = new Intl.ListFormat('en').format([...writers, ...others])
  return count === 1
    ? `${names} wrote a note`
    : `${names} wrote ${count.toLocaleString('en-US')} notes, the last`
}

/** How many writers a mail names for each order. */
const named = 3

interface Noted {
  order: ListedOrder
  count: number
  lastAt: number
  /** As they are printed: some of them. */
  writers: string[]
  writerCount: number
}

/**
 * The orders with notes that concern the person, from this line of the log on: some of them, and how many
 * there are. It looks at the newest thousand notes.
 */
export async function findNoted(
  snapshot: Db,
  { person, first }: { person: number; first: number },
): Promise<{ orders: Noted[]; count: number }> {
  const notes = await newestOfOrders(snapshot, { kind: noted, first, limit: countedLimit })
  const found = await findCreated(snapshot, notes)
  const concerned = await whomConcern(snapshot, found, sql`${person}`)
  const news = Map.groupBy(
    notes.filter((note) => concerned(note).includes(person)),
    (note) => found.get(note.subject_id),
  )
  const orders: Noted[] = []
  for (const [order, notes] of [...news].slice(0, listed)) {
    if (order !== undefined) orders.push(await newsOf(snapshot, order, notes))
  }
  return { orders, count: news.size }
}

async function newsOf(db: Db, order: ListedOrder, notes: readonly EventOfOrder[]): Promise<Noted> {
  const byWriter = Map.groupBy(notes, (note) => note.by_id)
  const firstOfEach = [...byWriter.values()].flatMap(([first]) => first?.sequence ?? [])
  const signed = await sealedEventsAt(db, firstOfEach.slice(0, named))
  const writers = signed.map(toldBy).map(({ by, byName }) => printed(by, byName))
  return {
    order,
    count: notes.length,
    lastAt: notes.at(-1)?.at ?? 0,
    writers,
    writerCount: firstOfEach.length,
  }
}

/**
 * Whom a note concerns, of these people and the creators of its order. A note is no news to its writer,
 * nor is one that came with the order to anyone.
 */
async function whomConcern(
  db: Db,
  orders: ReadonlyMap<string, CreatedOrder>,
  people: RawBuilder<unknown>,
): Promise<(note: EventOfOrder) => number[]> {
  const acts = await firstActs(db, { ids: [...orders.keys()], kinds: takesPart, people })
  const actsOf = Map.groupBy(acts, ({ id }) => id)
  return ({ subject_id, sequence, at, by_id }) => {
    const order = orders.get(subject_id)
    if (order === undefined || (order.createdAt === at && order.createdById === by_id)) return []
    const before = (actsOf.get(subject_id) ?? []).filter(({ since }) => since < sequence)
    const concerned = new Set([...order.creators, ...before.map(({ person }) => person)])
    return [...concerned].filter((person) => person !== by_id)
  }
}
