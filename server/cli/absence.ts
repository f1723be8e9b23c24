import { requireAccount } from '../auth/accounts/accounts.ts'
import { faultOfEnds, findAbsences } from '../auth/accounts/users/absence.ts'
import { formatInstant } from '../clock.ts'
import { Fault, instantField } from '../http/fields.ts'
import { namedUser } from './accounts.ts'
import type { Invocation, Outcome } from './command.ts'
import { commandStamp, withDatabase, withDatabaseToRead } from './database.ts'
import { Refused, UsageError } from './failures.ts'
import { table } from './output.ts'

export async function runSetAbsence(invocation: Invocation): Promise<Outcome> {
  const stamp = commandStamp()
  const { deputy: deputyName } = invocation.texts
  if (deputyName === undefined) throw new UsageError('the deputy is missing: --deputy')
  const until = instantOf(invocation, 'until')
  if (until === undefined) throw new UsageError('the end is missing: --until')
  const from = instantOf(invocation, 'from') ?? stamp.nowMilliseconds
  const fault = faultOfEnds({ from, until }, stamp.nowMilliseconds)
  if (fault !== undefined) throw new Refused('invalid-absence', `--${fault.member} ${fault.detail}`)
  return withDatabase(invocation, async (db) => {
    const person = await requireAccount(db.read, namedUser(invocation).account)
    const named = namedUser({ ...invocation, texts: {}, positionals: [deputyName] }).account
    const deputy = await requireAccount(db.read, named)
    const absence = { from, until, deputyId: deputy.id }
    const { changed } = await db.write('setAbsence', { person, absence, stamp })
    return {
      value: { userName: person.name, until: formatInstant(until), deputy: deputy.name, changed },
      text: `${deputy.name} stands in for ${person.name} until ${formatInstant(until)}.`,
    }
  })
}

export async function runListAbsences(invocation: Invocation): Promise<Outcome> {
  const absences = await withDatabaseToRead(invocation, (db) =>
    findAbsences(db.read, commandStamp().nowMilliseconds),
  )
  const value = absences.map(({ id, userName, from, until, deputyId, deputy }) => ({
    id,
    userName,
    from: formatInstant(from),
    until: formatInstant(until),
    deputyId,
    deputy,
  }))
  const rows = value.map(({ userName, from, until, deputy }) => [userName, from, until, deputy])
  return { value, text: table(['USER NAME', 'FROM', 'UNTIL', 'DEPUTY'], rows) }
}

export async function runEndAbsence(invocation: Invocation): Promise<Outcome> {
  const { account } = namedUser(invocation)
  return withDatabase(invocation, async (db) => {
    const person = await requireAccount(db.read, account)
    const { changed } = await db.write('endAbsence', { person, stamp: commandStamp() })
    const text = changed ? `The absence of ${person.name} has ended.` : `${person.name} is not absent.`
    return { value: { userName: person.name, changed }, text }
  })
}

const instant = instantField('', '')

function instantOf({ texts }: Invocation, name: 'from' | 'until'): number | undefined {
  const given = texts[name]
  if (given === undefined) return undefined
  const read = instant.read(given)
  if (read instanceof Fault) throw new UsageError(`--${name} ${read.detail}`)
  return read
}
