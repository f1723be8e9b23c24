import { createReadStream } from 'node:fs'
import { linesOf } from '../../proof/log.ts'
import type { Db } from '../db/tables.ts'
import { type Erasure, erasureOf, isOfCustomer, personIn } from '../erasure/again.ts'
import { customerOf, hasValue, personOf } from '../erasure/store.ts'
import { Refused } from './failures.ts'

/** The erasures in an export of the log, which is read to its end. */
export async function erasuresIn(file: string): Promise<Erasure[]> {
  const erasures: Erasure[] = []
  let number = 0
  for await (const bytes of linesOf(createReadStream(file))) {
    number += 1
    try {
      const { kind, subject, data } = JSON.parse(new TextDecoder().decode(bytes))
      if (typeof kind !== 'string') throw new TypeError()
      if (kind === 'erased') erasures.push(checked(erasureOf(subject.id, data)))
    } catch {
      throw new Refused('bad-export', `${file}:${number} is not a line of an export of the log`)
    }
  }
  return erasures
}

/** The names become part of commands. */
function checked(erasure: Erasure): Erasure {
  const { subject, places, orders } = erasure
  const areNames = Object.keys(places).every((name) => /^[A-Za-z]{1,40}$/.test(name))
  const areNumbers = Object.values(places).every((each) => each.every(Number.isSafeInteger))
  const areIds = Array.isArray(orders) && [subject, ...orders].every((id) => typeof id === 'string')
  if (!areNames || !areNumbers || !areIds) throw new TypeError()
  return erasure
}

/** The commands that do erasures again, as far as the database still has the names. */
export async function lostErasures(db: Db, erasures: readonly Erasure[]): Promise<string[]> {
  const commands = new Set<string>()
  for (const erasure of erasures) {
    for (const command of await commandsFor(db, erasure)) commands.add(command)
  }
  return [...commands]
}

/** As a shell takes it for one word, whatever it is. */
const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`

async function commandsFor(db: Db, erasure: Erasure): Promise<string[]> {
  const id = personIn(erasure)
  if (id > 0) return (await personOf(db, id))?.isErased === false ? [`person erase ${id}`] : []
  if (isOfCustomer(erasure)) {
    const customers = new Set<string>()
    for (const order of erasure.orders) {
      const customer = await customerOf(db, order)
      if (customer !== undefined) customers.add(`customer erase -- ${quoted(customer)}`)
    }
    return [...customers]
  }
  const commands: string[] = []
  for (const [name, sequences] of Object.entries(erasure.places)) {
    for (const sequence of sequences) {
      if (await hasValue(db, { sequence, name })) commands.push(`log erase ${sequence} ${name}`)
    }
  }
  return commands
}
