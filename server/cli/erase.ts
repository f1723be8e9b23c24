/** The commands that erase names, texts and documents. */
import { setTimeout as wait } from 'node:timers/promises'
import { sealedEvents } from '../audit/audit.ts'
import type { AppDatabase } from '../db/port.ts'
import type { Erased } from '../erasure/erasure.ts'
import { parseUuid } from '../ids.ts'
import { type Invocation, type Outcome, requiredArgument } from './command.ts'
import { commandStamp, withStranded } from './database.ts'
import { UsageError } from './failures.ts'
import { withSealedLog } from './log.ts'
import { grouped } from './output.ts'

/** A running service writes in the pauses between two erasures. */
const pauseMilliseconds = 20

/** Several in one call, because the file is rewritten once. */
export async function runErasePerson(invocation: Invocation): Promise<Outcome> {
  requiredArgument(invocation, 0, 'the id of the user')
  const ids = invocation.positionals.map((given) => {
    if (!/^[1-9]\d{0,8}$/.test(given)) throw new UsageError('the id of a user is a number (`user list`)')
    return Number(given)
  })
  return erasing(invocation, async (db) => {
    const erased: Record<string, unknown>[] = []
    for (const id of ids) {
      const done = await db.write('erasePerson', { id, stamp: commandStamp() })
      erased.push({ id, ...(done ?? { before: true }) })
      await wait(pauseMilliseconds)
    }
    return withStranded(db, {
      value: erased,
      text: erased.map((each) => personInWords(each as never)).join('\n'),
    })
  })
}

const personInWords = ({ id, ...done }: { id: number } & Partial<Erased>) =>
  done.name === undefined ? `User ${id} was erased before.` : `Erased user ${id}: ${inWords(done as Erased)}`

const inWords = ({ name, values, orders }: Erased) =>
  `${name} from now on, in ${grouped(orders)} ${orders === 1 ? 'order' : 'orders'}; the log lost ${grouped(values)} ${values === 1 ? 'value' : 'values'}.`

export async function runEraseCustomer(invocation: Invocation): Promise<Outcome> {
  requiredArgument(invocation, 0, 'the name of the customer')
  return erasing(invocation, async (db) => {
    const erased: Erased[] = []
    for (const customer of invocation.positionals) {
      erased.push(await db.write('eraseCustomer', { customer, stamp: commandStamp() }))
      await wait(pauseMilliseconds)
    }
    return { value: erased, text: erased.map((each) => `Erased a customer: ${inWords(each)}`).join('\n') }
  })
}

export async function runEraseLine(invocation: Invocation): Promise<Outcome> {
  const given = requiredArgument(invocation, 0, 'the sequence')
  if (!/^[1-9]\d{0,14}$/.test(given)) throw new UsageError('the sequence is a number, such as 1043')
  const sequence = Number(given)
  const name = requiredArgument(invocation, 1, 'the name of what to erase')
  if (!/^[A-Za-z]{1,40}$/.test(name)) throw new UsageError('the name is one of `clear`, such as text or by')
  return erasing(invocation, async (db) => {
    await db.write('eraseFromLog', { sequence, name, stamp: commandStamp() })
    const [event] = await sealedEvents(db.read, { first: sequence, last: sequence, direction: 'asc' })
    const { kind, subject_kind, subject_id: id } = event ?? {}
    return {
      value: { sequence, name, kind, subject: { kind: subject_kind, id } },
      text: `Erased ${name} of event ${sequence} (${kind}, ${subject_kind} ${id}).`,
    }
  })
}

export async function runEraseDocument(invocation: Invocation): Promise<Outcome> {
  const orderId = requiredId(invocation, 0, 'the id of the order')
  const id = requiredId(invocation, 1, 'the id of the document')
  return erasing(invocation, async (db) => {
    const { sha256 } = await db.write('eraseDocument', { orderId, id, stamp: commandStamp() })
    return {
      value: { orderId, id, sha256 },
      text: `Erased the bytes of document ${id}. Its hash stays: ${sha256}.`,
    }
  })
}

function requiredId(invocation: Invocation, position: number, what: string): string {
  const id = parseUuid(requiredArgument(invocation, position, what))
  if (id === undefined) throw new UsageError(`${what} is a UUID`)
  return id
}

/** Afterwards no file of the database has what was erased, or the hint says which still has. */
function erasing(invocation: Invocation, work: (db: AppDatabase) => Promise<Outcome>): Promise<Outcome> {
  return withSealedLog(invocation, async (db) => {
    let left: string | undefined
    const outcome = await work(db).finally(async () => {
      left = await db.rewrite()
    })
    const hints = [outcome.hint, 'Backups, archives and earlier exports still have it.', left]
    return { ...outcome, hint: hints.filter((hint) => hint !== undefined).join('\n') }
  })
}
