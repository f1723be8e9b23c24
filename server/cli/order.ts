import { parseUuid } from '../ids.ts'
import { type Invocation, type Outcome, requiredArgument } from './command.ts'
import { commandStamp, withDatabase } from './database.ts'
import { UsageError } from './failures.ts'

export async function runEraseDocument(invocation: Invocation): Promise<Outcome> {
  const orderId = requiredId(invocation, 0, 'the id of the order')
  const id = requiredId(invocation, 1, 'the id of the document')
  const { sha256 } = await withDatabase(invocation, (db) =>
    db.write('eraseDocument', { orderId, id, stamp: commandStamp() }),
  )
  return {
    value: { orderId, id, sha256 },
    text: `Erased the bytes of document ${id}. Its hash stays: ${sha256}.`,
    hint: 'Backups still have them.',
  }
}

function requiredId(invocation: Invocation, position: number, what: string): string {
  const id = parseUuid(requiredArgument(invocation, position, what))
  if (id === undefined) throw new UsageError(`${what} is a UUID`)
  return id
}
