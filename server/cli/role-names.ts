import { listRoles } from '../auth/roles/store.ts'
import type { AppDatabase } from '../operations.ts'
import type { Invocation } from './command.ts'
import { refusalOf } from './database.ts'
import { UsageError } from './failures.ts'

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
  const known = (await listRoles(db.read)).map(({ role }) => role)
  const unknown: string[] = []
  const roles = new Set<string>()
  for (const name of given) {
    const role = known.find((candidate) => candidate.toLowerCase() === name.toLowerCase())
    if (role === undefined) unknown.push(name)
    else roles.add(role)
  }
  if (unknown.length > 0) throw refusalOf({ refused: 'unknown-role', unknown, known }, '')
  return [...roles].sort()
}
