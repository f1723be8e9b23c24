import { createReadStream } from 'node:fs'
import type { LogLine } from '../../proof/line.ts'
import { linesOf } from '../../proof/log.ts'
import { formatInstant } from '../clock.ts'
import type { Db } from '../db/tables.ts'
import {
  type Erasure,
  erasureOf,
  type FormerErasure,
  hasBytes,
  isOfLines,
  personIn,
} from '../erasure/again.ts'
import { customerOf, hasValue, personOf } from '../erasure/store.ts'
import { parseUuid } from '../ids.ts'
import { Refused } from './failures.ts'

/** The erasures in an export of the log, which is read to its end. */
export async function erasuresIn(file: string): Promise<FormerErasure[]> {
  const erasures: FormerErasure[] = []
  const addedAt = new Map<string, number>()
  const hashes = new Map<number, string>()
  await eachLine(file, ({ kind, subject, data, atUtc }) => {
    if (typeof kind !== 'string') throw new TypeError()
    if (kind === 'user-added') addedAt.set(subject.id, Date.parse(atUtc))
    if (kind !== 'erased' && kind !== 'document-erased') return
    const erasure = checked(erasureOf(subject.id, data as never))
    erasures.push({ ...erasure, createdAt: addedAt.get(String(personIn(erasure))), hashes })
  })
  const alone = new Set(erasures.filter(isOfLines).flatMap(({ places }) => Object.values(places).flat()))
  if (alone.size === 0) return erasures
  await eachLine(file, ({ sequence, hash }) => {
    if (alone.has(sequence)) hashes.set(sequence, hash)
  })
  return erasures
}

async function eachLine(file: string, see: (line: LogLine) => void): Promise<void> {
  let number = 0
  for await (const bytes of linesOf(createReadStream(file))) {
    number += 1
    try {
      see(JSON.parse(new TextDecoder().decode(bytes)))
    } catch {
      throw new Refused('bad-export', `${file}:${number} is not a line of an export of the log`)
    }
  }
}

/** The names become part of commands. */
function checked(erasure: Erasure): Erasure {
  const { subject, places, orders, document } = erasure
  const areNames = Object.keys(places).every((name) => /^[A-Za-z]{1,40}$/.test(name))
  const areNumbers = Object.values(places).every((each) => each.every(Number.isSafeInteger))
  const areIds = Array.isArray(orders) && [subject, ...orders].every((id) => typeof id === 'string')
  const isDocument = document === undefined || [subject, document].every((id) => parseUuid(id) === id)
  if (!areNames || !areNumbers || !areIds || !isDocument) throw new TypeError()
  return erasure
}

/** A command that does an erasure again. `note` says what it is about where the command does not. */
interface Command {
  command: string
  note?: string
}

/**
 * The commands that do erasures again, as far as the database still has the names. An account or a line that
 * came to the database after it went back may have the number of one that was erased: it is left alone.
 */
export async function lostErasures(db: Db, erasures: readonly FormerErasure[]): Promise<Command[]> {
  const commands = new Map<string, Command>()
  for (const erasure of erasures) {
    for (const each of await commandsFor(db, erasure)) commands.set(each.command, each)
  }
  return [...commands.values()]
}

/** As a shell takes it for one word, whatever it is. */
const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`

async function commandsFor(db: Db, erasure: FormerErasure): Promise<Command[]> {
  const commands: Command[] = []
  const id = personIn(erasure)
  if (id > 0) {
    const is = await personOf(db, id)
    const { createdAt = is?.createdAt } = erasure
    if (is === undefined || is.isErased || is.createdAt !== createdAt) return []
    return [{ command: `person erase ${id}`, note: `the account was added at ${formatInstant(createdAt)}` }]
  }
  if (erasure.document !== undefined) {
    const place = { orderId: erasure.subject, id: erasure.document }
    if (!(await hasBytes(db, place))) return []
    return [{ command: `order erase-document ${place.orderId} ${place.id}` }]
  }
  for (const order of erasure.orders) {
    const customer = await customerOf(db, order)
    if (customer !== undefined) commands.push({ command: `customer erase -- ${quoted(customer)}` })
  }
  if (!isOfLines(erasure)) return commands
  for (const [name, sequences] of Object.entries(erasure.places)) {
    for (const sequence of sequences) {
      const is = await hasValue(db, { sequence, name, hash: erasure.hashes.get(sequence) })
      if (is) commands.push({ command: `log erase ${sequence} ${name}` })
    }
  }
  return commands
}
