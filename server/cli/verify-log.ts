import { createReadStream, readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import {
  readCheckpoint,
  readNote,
  readVerifierKey,
  type VerifierKey,
  verifyNote,
} from '../../client/src/note.ts'
import { headOfLog } from '../audit/audit.ts'
import { exportLog } from '../audit/log.ts'
import { firstUnlikeTile } from '../audit/store.ts'
import type { Head } from '../audit/tree.ts'
import {
  type Agreement,
  eraOf,
  type LogReport,
  linesOf,
  restoreThatLost,
  type SignedHead,
  verifyLog,
} from '../audit/verify.ts'
import type { ReadableDatabase } from '../db/port.ts'
import { type ComparedOrder, OrderComparison } from '../orders/compare.ts'
import { exportOrders } from '../orders/export/export.ts'
import type { Invocation, Outcome } from './command.ts'
import { withDatabaseToRead } from './database.ts'
import { Refused } from './failures.ts'
import { grouped } from './output.ts'

const caller = 'log'

/** A head that the log must agree with, and where it comes from. */
interface Kept extends SignedHead {
  name: string
}

/** What is compared with the log. */
interface Compared {
  kept: readonly Kept[]
  orders: OrderComparison | undefined
}

export async function runVerifyLog(invocation: Invocation): Promise<Outcome> {
  const { export: file, orders: ordersFile } = invocation.texts
  const keys = await readKeys(invocation.lists['log-key'] ?? [])
  const kept = await readKept(invocation.lists.checkpoint ?? [], keys)
  if (file !== undefined && kept.length === 0) throw nothingBinds()
  const orders = ordersFile === undefined ? undefined : await ordersOf(ordersFile, kept)
  const { compared, report } = await (file === undefined
    ? withDatabaseToRead(invocation, (db) => verifyDatabase(db, { kept, orders }))
    : verify(createReadStream(file), { kept, orders }))
  const { head, backInTime, signatures: signed } = report
  const lost = lostOf(report, kept)
  const signatures = kept.length > 0 && keys.length === 0 ? 'not checked' : 'checked'
  return {
    value: {
      ...head,
      checkpoints: kept.length,
      ...(lost.length === 0 ? {} : { lost }),
      ...(kept.length === 0 ? {} : { signatures }),
      orders: compared.orders?.size ?? null,
      backInTime,
      signedDecisions: signed.signed,
      unsigned: signed.unsigned,
    },
    text: describe(report, kept, compared.orders),
    ...hintOf(kept, keys, orders),
  }
}

const nothingBinds = () =>
  new Refused(
    'nothing-binds',
    'nothing binds the lines of an export to each other: give a checkpoint (--checkpoint FILE)',
  )

/** A checkpoint whose last lines are gone, and the line of the restore that says so. */
interface LostCheckpoint {
  checkpoint: string
  size: number
  restore: number
}

function lostOf({ restores }: LogReport, kept: readonly Kept[]): LostCheckpoint[] {
  return kept.flatMap(({ name, ...head }) => {
    const restore = restoreThatLost(restores, head)
    return restore === undefined ? [] : [{ checkpoint: name, size: head.size, restore: restore.sequence }]
  })
}

function describe(report: LogReport, kept: readonly Kept[], orders: OrderComparison | undefined): string {
  const {
    head: { size, root },
    backInTime,
    signatures: { signed, unsigned },
  } = report
  const lost = lostOf(report, kept)
  const agreeing = kept.length - lost.length
  const agreed = agreeing === 1 ? 'the checkpoint' : `all ${agreeing} checkpoints`
  return [
    `The log is whole: ${size} events, with the root ${root}.`,
    ...(agreeing === 0 ? [] : [`It agrees with ${agreed}.`]),
    ...lost.map(
      (each) => `${each.checkpoint} covers ${each.size} events: lost by the restore of line ${each.restore}.`,
    ),
    ...(orders === undefined
      ? []
      : [`It agrees with ${grouped(orders.size)} order${orders.size === 1 ? '' : 's'}.`]),
    ...(signed === 0 ? [] : [`Every signature holds: ${grouped(signed)}.`]),
    ...(unsigned.events === 0
      ? []
      : [`The policy asked for a signature, but there is none: event ${listed(unsigned)}.`]),
    ...(backInTime.events === 0
      ? []
      : [`The time runs back by more than a minute at event ${listed(backInTime)}.`]),
  ].join('\n')
}

/** As in "3, 8 and 12 more". */
function listed({ events, first }: LogReport['backInTime']): string {
  return `${first.join(', ')}${events > first.length ? ` and ${events - first.length} more` : ''}`
}

function hintOf(
  kept: readonly Kept[],
  keys: readonly VerifierKey[],
  orders: OrderComparison | undefined,
): { hint?: string } {
  const hints = [
    kept.length === 0 && 'Without a checkpoint that someone kept, a rewritten log looks whole too.',
    kept.length > 0 &&
      keys.length === 0 &&
      'The signatures of the checkpoints were not checked (--log-key KEY).',
    orders !== undefined &&
      orders.newer > 0 &&
      `Orders that changed after the newest checkpoint, which the file does not show: ${grouped(orders.newer)}.`,
  ].filter((hint) => hint !== false)
  return hints.length === 0 ? {} : { hint: hints.join('\n') }
}

/** The database itself states how far its log goes. Its orders are compared unless a file has them. */
async function verifyDatabase(db: ReadableDatabase, { kept, orders }: Compared): Promise<Verified> {
  const head = { ...(await headOfLog(db.read)), name: 'the database (log_head)' }
  const compared = { kept: [...kept, head], orders: orders ?? (await ordersIn(db, head)) }
  return verify(Readable.from(exportLog(db, 0, caller), { objectMode: false }), compared, db)
}

interface Verified {
  compared: Compared
  report: LogReport
}

/**
 * Throws `Refused` for the first fault: a line that does not fit, a checkpoint that disagrees or covers more,
 * a text that is gone, an order that differs.
 */
async function verify(lines: Readable, compared: Compared, db?: ReadableDatabase): Promise<Verified> {
  const { kept, orders } = compared
  const report = await verifyLog(lines, kept, (line) => orders?.see(line))
  const { head, fault, checkpoints, lostText } = report
  if (fault !== null) {
    throw new Refused('log-broken', `event ${fault.sequence} does not fit: ${fault.reason}`)
  }
  await requireAgreement(kept, checkpoints, head, db)
  if (!checkpoints.includes('agrees')) throw nothingBinds()
  if (lostText !== null) {
    const reason = 'its text is gone, and no later event says that it was erased'
    throw new Refused('log-broken', `event ${lostText} does not fit: ${reason}`)
  }
  const difference = await orders?.difference(db?.read)
  if (difference !== undefined) throw new Refused('orders-differ', difference)
  return { compared, report }
}

/**
 * A root says that a line was rewritten, not which one: so the refusal names the lines between the last
 * checkpoint that agrees and the first that does not. The tiles of the database name the line itself.
 */
async function requireAgreement(
  kept: readonly Kept[],
  agreements: readonly Agreement[],
  head: Head,
  db: ReadableDatabase | undefined,
): Promise<void> {
  const those = (wanted: Agreement) =>
    kept.filter((_, index) => agreements[index] === wanted).toSorted((one, other) => one.size - other.size)
  const [disagrees] = those('disagrees')
  if (disagrees !== undefined) {
    const { name, size } = disagrees
    const agreed = those('agrees').findLast((each) => each.size < size)?.size ?? 0
    const span = agreed + 1 === size ? `event ${size}` : `one of the events ${agreed + 1} to ${size}`
    const line = db && (await firstUnlikeTile(db.read))
    const where = line === undefined ? span : `event ${line}`
    throw new Refused('checkpoint-disagrees', `${name} disagrees: ${where} was rewritten`)
  }
  const [beyond] = those('beyond')
  if (beyond !== undefined) {
    const { name, size } = beyond
    throw new Refused(
      'log-cut',
      `the end is missing: ${name} covers ${size} events, but the log has ${head.size}`,
    )
  }
}

/** Every event that the head covers must show in the orders, which are read after it. */
async function ordersIn(db: ReadableDatabase, { size }: Head): Promise<OrderComparison> {
  const request = {
    type: 'application/jsonl',
    bom: false,
    filter: null,
    sortKey: 'id',
    direction: 'asc',
  } as const
  const lines = Readable.from(exportOrders(db, request, caller), { objectMode: false })
  return compareOrders(lines, 'the database', size)
}

/** A file must reflect all events up to the newest checkpoint, or all events if there is none. */
function ordersOf(file: string, kept: readonly Kept[]): Promise<OrderComparison> {
  const era = Math.max(...kept.map((each) => each.era))
  const sizes = kept.filter((each) => each.era === era).map(({ size }) => size)
  const size = kept.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...sizes)
  return compareOrders(createReadStream(file), file, size)
}

/** Reads orders in JSON Lines, as an export of the list has them. */
async function compareOrders(bytes: Readable, name: string, size: number): Promise<OrderComparison> {
  const comparison = new OrderComparison(size)
  let number = 0
  for await (const line of linesOf(bytes)) {
    number += 1
    const order = orderOf(line)
    if (order === undefined || !comparison.add(order)) {
      const reason = order === undefined ? 'is not an order in JSON Lines' : `has the order ${order.id} again`
      throw new Refused('bad-orders', `${name}:${number} ${reason}`)
    }
  }
  return comparison
}

/** Undefined if the line is something else, or was cut. */
function orderOf(line: Uint8Array): ComparedOrder | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(line)
    const { id, customer, total, status } = JSON.parse(text)
    const isOrder =
      text.endsWith('\n') &&
      typeof id === 'string' &&
      typeof customer === 'string' &&
      typeof total === 'number' &&
      typeof status === 'number'
    return isOrder ? { id, customer, total, status } : undefined
  } catch {
    return undefined
  }
}

/** A file is a checkpoint, or lines of the service's log, each with one as `checkpoint`. */
async function readKept(files: readonly string[], keys: readonly VerifierKey[]): Promise<Kept[]> {
  const kept: Kept[] = []
  for (const file of files) {
    const text = readFileSync(file, 'utf8')
    // A failed cron job may leave an empty file. It would compare nothing, and everything would look intact.
    if (text.trim() === '') throw new Refused('bad-checkpoint', `${file} has no checkpoint`)
    const lines = text.startsWith('{') ? text.split('\n') : [text]
    for (const [index, line] of lines.entries()) {
      if (line.trim() === '') continue
      const name = lines.length > 2 ? `${file}:${index + 1}` : file
      try {
        kept.push({ ...(await readHead(noteOf(line), keys)), name })
      } catch (error) {
        throw new Refused(
          'bad-checkpoint',
          `${name} is not a checkpoint of this log: ${(error as Error).message}`,
          {
            cause: error,
          },
        )
      }
    }
  }
  return kept
}

function noteOf(line: string): string {
  return line.startsWith('{') ? String(JSON.parse(line).checkpoint) : line
}

/** What a checkpoint covers. Without keys its signatures are not checked. */
async function readHead(text: string, keys: readonly VerifierKey[]): Promise<SignedHead> {
  const note = readNote(text)
  const { origin, size, root } = readCheckpoint(note.text)
  const own = keys.filter(({ name }) => name === origin)
  if (keys.length > 0 && own.length === 0) throw new Error(`no key is of ${origin}`)
  if (keys.length > 0 && !(await verifyNote(note, own))) throw new Error('none of the keys signed it')
  return { era: eraOf(origin), size, root: Buffer.from(root).toString('hex') }
}

function readKeys(texts: readonly string[]): Promise<VerifierKey[]> {
  return Promise.all(
    texts.map((text) =>
      readVerifierKey(text).catch((error: Error) => {
        throw new Refused('bad-log-key', `--log-key ${text}: ${error.message}`, { cause: error })
      }),
    ),
  )
}
