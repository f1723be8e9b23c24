import { createReadStream } from 'node:fs'
import { linesOf } from '../../proof/log.ts'
import type { Db } from '../db/tables.ts'
import { type Erasure, erasureOf, isOfCustomer, personIn } from '../erasure/again.ts'
import { customerOf, hasValue, personOf } from '../erasure/store.ts'
import { Refused } from './failures.ts'

/** The commands that do the erasures of an export again, as far as the database still has the names. */
export async function lostErasures(db: Db, file: string): Promise<string[]> {
  const commands = new Set<string>()
  for await (const bytes of linesOf(createReadStream(file))) {
    const line = parse(bytes, file)
    if (line.kind !== 'erased') continue
    for (const command of await commandsFor(db, erasureOf(line.subject.id, line.data))) commands.add(command)
  }
  return [...commands]
}

function parse(bytes: Uint8Array, file: string) {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    throw new Refused('bad-export', `${file} is not an export of the log`)
  }
}

async function commandsFor(db: Db, erasure: Erasure): Promise<string[]> {
  const id = personIn(erasure)
  if (id > 0) return (await personOf(db, id))?.isErased === false ? [`person erase ${id}`] : []
  if (isOfCustomer(erasure)) {
    const customers = new Set<string>()
    for (const order of erasure.orders) {
      const customer = await customerOf(db, order)
      if (customer !== undefined) customers.add(`customer erase ${JSON.stringify(customer)}`)
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
