import { roleNames } from '../auth/accounts/roles/store.ts'
import type { AppDatabase } from '../db/port.ts'
import type { Invocation } from './command.ts'
import { Refused, UsageError } from './failures.ts'

/** The roles after the account on the command line and those of --role. Throws `UsageError` when there is none. */
export function givenRoles(invocation: Invocation, positionals: string[]): string[] {
  const roles = [...splitCommas(positionals), ...(invocation.lists.role ?? [])]
  if (roles.length === 0) throw new UsageError('a role is missing')
  return roles
}

/** Values that may also be given several to one word, as `Operator,Viewer`. */
export function splitCommas(words: string[]): string[] {
  return words
    .flatMap((word) => word.split(','))
    .map((word) => word.trim())
    .filter((word) => word !== '')
}

/** The roles as the table spells them, whatever case they were given in. Throws `Refused` naming all roles. */
export async function spellRoles(db: AppDatabase, given: string[]): Promise<string[]> {
  const known = await roleNames(db.read)
  const { spelled, unknown } = spell(given, known)
  if (unknown.length > 0) {
    const message = `there is no role ${unknown.join(', ')}; the roles are ${known.join(', ')}`
    throw new Refused('unknown-role', message)
  }
  return spelled
}

/** Each name as `known` has it, once and sorted, and the names that it has in no case. */
export function spell<Name extends string>(given: string[], known: readonly Name[]) {
  const byFolded = new Map(known.map((name) => [name.toLowerCase(), name]))
  const found = given.map((name) => byFolded.get(name.toLowerCase()))
  return {
    spelled: [...new Set(found.filter((name) => name !== undefined))].sort(),
    unknown: given.filter((_, index) => found[index] === undefined),
  }
}
