import { createReadStream, readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import type { JSONWebKeySet, JWK } from 'jose'
import { headOfLog } from '../audit/audit.ts'
import { exportLog } from '../audit/log.ts'
import { readCheckpoint } from '../audit/statements.ts'
import { firstUnlikeTile } from '../audit/store.ts'
import type { Head } from '../audit/tree.ts'
import { type Agreement, type LogReport, linesOf, verifyLog } from '../audit/verify.ts'
import type { ReadableDatabase } from '../db/port.ts'
import { type ComparedOrder, OrderComparison } from '../orders/compare.ts'
import { exportOrders } from '../orders/export/export.ts'
import type { Invocation, Outcome } from './command.ts'
import { withDatabaseToRead } from './database.ts'
import { Refused } from './failures.ts'
import { grouped } from './output.ts'

const caller = 'log'

/** A head that the log must agree with, and where it comes from. */
interface Witness extends Head {
  name: string
}

/** What is compared with the log. */
interface Compared {
  kept: readonly Witness[]
  orders: OrderComparison | undefined
}

export async function runVerifyLog(invocation: Invocation): Promise<Outcome> {
  const { export: file, orders: ordersFile } = invocation.texts
  const jwks = readJwks(invocation.lists.jwks ?? [])
  const kept = await readWitnesses(invocation.lists.checkpoint ?? [], jwks)
  if (file !== undefined && kept.length === 0) {
    const reason = 'nothing binds the lines of an export to each other: give a checkpoint (--checkpoint FILE)'
    throw new Refused('nothing-binds', reason)
  }
  const orders = ordersFile === undefined ? undefined : await ordersOf(ordersFile, kept)
  const { compared, report } = await (file === undefined
    ? withDatabaseToRead(invocation, (db) => verifyDatabase(db, { kept, orders }))
    : verify(createReadStream(file), { kept, orders }))
  const { head, backInTime, signatures: signed } = report
  const signatures = kept.length > 0 && jwks === null ? 'not checked' : 'checked'
  return {
    value: {
      ...head,
      checkpoints: kept.length,
      ...(kept.length === 0 ? {} : { signatures }),
      orders: compared.orders?.size ?? null,
      backInTime,
      signedDecisions: signed.signed,
      unsigned: signed.unsigned,
    },
    text: describe(report, kept, compared.orders),
    ...hintOf(kept, jwks, orders),
  }
}

function describe(
  { head: { size, root }, backInTime, signatures: { signed, unsigned } }: LogReport,
  kept: readonly Witness[],
  orders: OrderComparison | undefined,
): string {
  const agreed = kept.length === 1 ? 'the checkpoint' : `all ${kept.length} checkpoints`
  return [
    `The log is whole: ${size} events, with the root ${root}.`,
    ...(kept.length === 0 ? [] : [`It agrees with ${agreed}.`]),
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
  kept: readonly Witness[],
  jwks: JSONWebKeySet | null,
  orders: OrderComparison | undefined,
): { hint?: string } {
  const hints = [
    kept.length === 0 && 'Without a checkpoint that someone kept, a rewritten log looks whole too.',
    kept.length > 0 && jwks === null && 'The signatures of the checkpoints were not checked (--jwks FILE).',
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
  kept: readonly Witness[],
  agreements: readonly Agreement[],
  head: Head,
  db: ReadableDatabase | undefined,
): Promise<void> {
  const those = (wanted: Agreement) =>
    kept.filter((_, index) => agreements[index] === wanted).toSorted((one, other) => one.size - other.size)
  const [disagrees] = those('disagrees')
  if (disagrees !== undefined) {
    const { name, size } = disagrees
    const agreed = those('agrees').findLast((witness) => witness.size < size)?.size ?? 0
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
function ordersOf(file: string, kept: readonly Witness[]): Promise<OrderComparison> {
  const size = kept.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...kept.map(({ size }) => size))
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

/**
 * Each line of a file is a JWS, or JSON with one as `checkpoint`: an answer of the service, or a line of its
 * log.
 */
async function readWitnesses(files: readonly string[], jwks: JSONWebKeySet | null): Promise<Witness[]> {
  const witnesses: Witness[] = []
  for (const file of files) {
    const lines = readFileSync(file, 'utf8').split('\n')
    // A failed cron job may leave an empty file. It would compare nothing, and everything would look intact.
    if (lines.every((line) => line.trim() === ''))
      throw new Refused('bad-checkpoint', `${file} has no checkpoint`)
    for (const [index, line] of lines.entries()) {
      if (line.trim() === '') continue
      const name = lines.length > 2 ? `${file}:${index + 1}` : file
      try {
        witnesses.push({ ...(await readCheckpoint(jwsOf(line.trim()), jwks)), name })
      } catch (error) {
        const reason = (error as Error).message
        throw new Refused('bad-checkpoint', `${name} is not a checkpoint of this service: ${reason}`, {
          cause: error,
        })
      }
    }
  }
  return witnesses
}

function jwsOf(line: string): string {
  return line.startsWith('{') ? String(JSON.parse(line).checkpoint) : line
}

/** The keys of all files: a key that was replaced is in an older one. Null without a file. */
function readJwks(files: readonly string[]): JSONWebKeySet | null {
  if (files.length === 0) return null
  const keys = files.flatMap(keysOf)
  return { keys: [...new Map(keys.map((key) => [JSON.stringify([key.kid, key.alg]), key])).values()] }
}

function keysOf(file: string): JWK[] {
  const text = readFileSync(file, 'utf8')
  try {
    const jwks = JSON.parse(text)
    if (Array.isArray(jwks.keys)) return jwks.keys
  } catch {}
  throw new Refused('bad-jwks', `${file} is not a JWK Set (see /.well-known/jwks.json)`)
}
