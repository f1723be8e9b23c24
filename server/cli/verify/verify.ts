/** The command `log verify`: it checks each file that was given, and then compares them with the log. */
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { type ApprovedDocument, DocumentSearch } from '../../../proof/document.ts'
import type { LogLine } from '../../../proof/line.ts'
import { type Agreement, type LogReport, restoreThatLost, verifyLog } from '../../../proof/log.ts'
import type { Head } from '../../../proof/log-tree.ts'
import { contradictionsOf } from '../../../proof/verdict.ts'
import { listed } from '../../../proof/words.ts'
import { contradictionOf, headOfLog } from '../../audit/audit.ts'
import { exportLog } from '../../audit/lines/log.ts'
import { firstUnlikeTile } from '../../audit/lines/store.ts'
import { type Contradiction, inWords } from '../../audit/sealing/contradiction.ts'
import type { ReadableDatabase } from '../../db/port.ts'
import type { OrderComparison } from '../../orders/compare.ts'
import type { Invocation, Outcome } from '../command.ts'
import { withDatabaseToRead } from '../database.ts'
import { Refused, UsageError } from '../failures.ts'
import { grouped } from '../output.ts'
import { type Kept, type KeptCheckpoint, readCheckpoints } from './checkpoints.ts'
import {
  describeDocuments,
  documentsForScripts,
  type GivenDocument,
  readDocuments,
  requireApproved,
} from './documents.ts'
import { cosignaturesOf, type GivenKeys, readKeys, unusedOf } from './keys.ts'
import { ordersIn, ordersOf } from './orders.ts'
import {
  describeReceipt,
  keptBy,
  type Receipt,
  readReceipts,
  receiptForScripts,
  requireShown,
} from './receipts.ts'

const caller = 'log'

/** Files that are valid so far; the log is not read yet. */
interface Given {
  keys: GivenKeys
  checkpoints: readonly KeptCheckpoint[]
  receipts: readonly Receipt[]
  documents: readonly GivenDocument[]
}

/** A log that is intact and agrees with every file that was given. */
interface Verified {
  report: LogReport
  orders: OrderComparison | undefined
  approved: readonly ApprovedDocument[]
  /** Why witnesses reject the log of the database. */
  contradiction?: Contradiction | undefined
}

/** Receipts are checked without a log, unless an export is given. */
export async function runVerifyLog(invocation: Invocation): Promise<Outcome> {
  const { texts, lists } = invocation
  const isAlone = lists.receipt !== undefined && texts.export === undefined
  if (isAlone && (lists.checkpoint ?? texts.orders) !== undefined) {
    throw new UsageError('checkpoints and orders are compared with a log: give --export FILE too')
  }
  const keys = await readKeys(invocation)
  const checkpoints = await readCheckpoints(lists.checkpoint ?? [], keys)
  const receipts = await readReceipts(lists.receipt ?? [], keys)
  const [contradiction] = contradictionsOf([...checkpoints, ...receipts].map(({ vouched }) => vouched))
  if (contradiction !== undefined) throw new Refused('checkpoints-contradict', contradiction)
  const documents = await readDocuments(lists.document ?? [])
  const given = { keys, checkpoints, receipts, documents }
  const verified = isAlone ? undefined : await verifyGiven(invocation, given)
  const approved = verified?.approved ?? approvedIn(given)
  requireApproved(documents, approved)
  const sentences = [
    ...(verified === undefined ? [] : describe(verified, given)),
    ...receipts.flatMap((receipt) => describeReceipt(receipt, keys)),
    ...describeDocuments(documents, approved),
  ]
  const files = documents.length === 0 ? {} : { documents: documentsForScripts(documents, approved) }
  return {
    value: { ...outcomeValue(verified, given), ...files },
    text: sentences.join('\n'),
    ...hintOf(verified, given),
  }
}

function approvedIn({ receipts, documents }: Given): ApprovedDocument[] {
  return receipts.flatMap(({ lines }) => {
    const search = new DocumentSearch(documents.map(({ sha256 }) => sha256))
    for (const line of lines) search.see(line)
    return search.found
  })
}

async function verifyGiven(invocation: Invocation, given: Given): Promise<Verified> {
  const { export: file, orders: ordersFile } = invocation.texts
  const { checkpoints, receipts, documents } = given
  const kept = [...checkpoints, ...receipts.map(keptBy)]
  if (file !== undefined && kept.length === 0) throw nothingBinds()
  const orders = ordersFile === undefined ? undefined : await ordersOf(ordersFile, checkpoints)
  const compared = { kept, orders, receipts, documents }
  return file === undefined
    ? withDatabaseToRead(invocation, (db) => verifyDatabase(db, compared))
    : verify(createReadStream(file), compared)
}

const nothingBinds = () =>
  new Refused(
    'nothing-binds',
    'without a checkpoint, no change of an export would show: give --checkpoint FILE',
  )

function outcomeValue(verified: Verified | undefined, { keys, checkpoints, receipts }: Given): object {
  const unused = unusedOf(keys)
  return {
    ...(verified && valueOfLog(verified, { checkpoints, receipts })),
    ...(receipts.length === 0 ? {} : { receipts: receipts.map(receiptForScripts) }),
    ...(unused.length === 0 ? {} : { unused }),
  }
}

function valueOfLog(
  verified: Verified,
  { checkpoints, receipts }: Pick<Given, 'checkpoints' | 'receipts'>,
): object {
  const { head, backInTime, signed } = verified.report
  const lost = lostOf(verified.report, [...checkpoints, ...receipts.map(keptBy)])
  return {
    ...head,
    checkpoints: checkpoints.length,
    ...(lost.length === 0 ? {} : { lost }),
    orders: verified.orders?.size ?? null,
    backInTime,
    signedDecisions: signed,
  }
}

/** A checkpoint whose last lines a restore lost, and the line of that restore. */
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

function describe({ report, orders }: Verified, { keys, checkpoints, receipts }: Given): string[] {
  const {
    head: { size, root },
    backInTime,
    signed,
  } = report
  const agreeing = checkpoints.length - lostOf(report, checkpoints).length
  const agreed = agreeing === 1 ? 'the checkpoint' : `all ${agreeing} checkpoints`
  const cosigned = checkpoints.length === 1 ? 'the checkpoint' : 'checkpoints'
  return [
    `The log is intact: ${size} events, with the root ${root}.`,
    ...(agreeing === 0 ? [] : [`It agrees with ${agreed}.`]),
    ...cosignaturesOf(
      cosigned,
      checkpoints.map(({ vouched }) => vouched),
      keys,
    ),
    ...lostOf(report, [...checkpoints, ...receipts.map(keptBy)]).map(
      (each) =>
        `${each.checkpoint} covers ${each.size} events; the restore in line ${each.restore} lost the last ones.`,
    ),
    ...receipts.map(({ file, line }) => `Line ${line.sequence} is the one in ${file}.`),
    ...(orders === undefined
      ? []
      : [`It agrees with ${grouped(orders.size)} order${orders.size === 1 ? '' : 's'}.`]),
    ...(signed === 0 ? [] : [`All signatures are valid: ${grouped(signed)}.`]),
    ...(backInTime.events === 0
      ? []
      : [`The clock went back by more than a minute at event ${listed(backInTime)}.`]),
  ]
}

function hintOf(verified: Verified | undefined, { keys, checkpoints, receipts }: Given): { hint?: string } {
  const notes = checkpoints.length + receipts.length
  const newer = verified?.orders?.newer ?? 0
  const hints = [
    verified?.contradiction !== undefined && inWords(verified.contradiction),
    notes === 0 && 'Without a checkpoint that someone kept, a rewritten log looks intact too.',
    newer > 0 &&
      `Orders that changed after the newest checkpoint, which the file does not show: ${grouped(newer)}.`,
    ...unusedOf(keys).map((key) => `Not used: ${key} signed nothing here.`),
  ].filter((hint) => hint !== false)
  return hints.length === 0 ? {} : { hint: hints.join('\n') }
}

/** Files to compare with the log. */
interface Compared {
  kept: readonly Kept[]
  orders: OrderComparison | undefined
  receipts: readonly Receipt[]
  documents: readonly GivenDocument[]
}

/** The database itself states how far its log goes. Its orders are compared unless a file has them. */
async function verifyDatabase(db: ReadableDatabase, compared: Compared): Promise<Verified> {
  const head = { ...(await headOfLog(db.read)), name: 'the database (log_head)' }
  const orders = compared.orders ?? (await ordersIn(db, head, caller))
  const lines = Readable.from(exportLog(db, 0, caller), { objectMode: false })
  const verified = await verify(lines, { ...compared, kept: [...compared.kept, head], orders }, db)
  return { ...verified, contradiction: await contradictionOf(db.read) }
}

/**
 * Throws `Refused` for the first fault: a line that does not fit, a checkpoint that disagrees or covers more
 * than the log has, a lost text, or an order that differs.
 */
async function verify(lines: Readable, compared: Compared, db?: ReadableDatabase): Promise<Verified> {
  const { kept, orders, receipts, documents } = compared
  const search = new DocumentSearch(documents.map(({ sha256 }) => sha256))
  const found = new Map<number, LogLine>()
  const wanted = new Set(receipts.flatMap((receipt) => receipt.lines).map(({ sequence }) => sequence))
  const report = await verifyLog(lines, kept, (line) => {
    orders?.see(line)
    search.see(line)
    if (wanted.has(line.sequence)) found.set(line.sequence, line)
  })
  const { head, fault, checkpoints, lost } = report
  if (fault !== null) {
    throw new Refused('log-broken', `event ${fault.sequence} does not fit: ${fault.reason}`)
  }
  await requireAgreement(kept, checkpoints, head, db)
  const bound = Math.max(0, ...kept.map(({ size }, at) => (checkpoints[at] === 'agrees' ? size : 0)))
  if (!checkpoints.includes('agrees')) throw nothingBinds()
  // A file of orders may show later changes, which the log has to explain.
  if (bound < head.size && orders === undefined) {
    const newer = `events ${bound + 1} to ${head.size} are newer than every checkpoint`
    throw new Refused('not-checked', `${newer}: give a newer one, or check the first ${bound} lines alone`)
  }
  if (lost !== null) {
    const reason = `its ${lost.name} is gone, and no later event says that it was erased`
    throw new Refused('log-broken', `event ${lost.sequence} does not fit: ${reason}`)
  }
  const difference = await orders?.difference(db?.read)
  if (difference !== undefined) throw new Refused('orders-differ', difference)
  for (const receipt of receipts) requireShown(receipt, { lines: found, restores: report.restores })
  return { report, orders, approved: search.found }
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
