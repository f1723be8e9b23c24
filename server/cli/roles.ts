import { isAccountName } from '../auth/accounts/names.ts'
import { listRoles, roleNames } from '../auth/accounts/roles/store.ts'
import { type Permission, permissions } from '../caller/permissions.ts'
import type { AppDatabase } from '../db/port.ts'
import { type Invocation, type Outcome, requiredArgument, splitCommas } from './command.ts'
import { commandStamp, withDatabase, withDatabaseToRead } from './database.ts'
import { Refused, UsageError } from './failures.ts'
import { table } from './output.ts'

export async function runListRoles(invocation: Invocation): Promise<Outcome> {
  const roles = await withDatabaseToRead(invocation, (db) => listRoles(db.read))
  return {
    value: roles.map(({ role, permissions }) => ({ role, permissions })),
    text: table(
      ['ROLE', 'PERMISSIONS'],
      roles.map(({ role, permissions }) => [role, permissions.join(', ') || '-']),
    ),
  }
}

export async function runAddRole(invocation: Invocation): Promise<Outcome> {
  const role = requiredArgument(invocation, 0, 'the role')
  if (!isAccountName(role)) {
    throw new Refused(
      'invalid-role',
      'a role starts with a letter and has at most 64 letters, digits and . _ -',
    )
  }
  const wanted = spellPermissions(invocation)
  await withDatabase(invocation, (db) =>
    db.write('addRole', { role, permissions: wanted, stamp: commandStamp() }),
  )
  return {
    value: { role, permissions: wanted },
    text: `Added the role ${role} with ${wanted.join(', ') || 'no permissions'}.`,
  }
}

export async function runRemoveRole(invocation: Invocation): Promise<Outcome> {
  const given = requiredArgument(invocation, 0, 'the role')
  const { role } = await withDatabase(invocation, async (db) => {
    const [role = given] = await spellRoles(db, [given])
    return db.write('removeRole', { role, stamp: commandStamp() })
  })
  return { value: { role }, text: `Removed the role ${role}.` }
}

/**
 * `role allow` and `role deny`. Repeating one is not an error: `changed` lists only permissions that moved.
 */
export const runChangePermissions =
  (operation: 'allowPermissions' | 'denyPermissions') =>
  async (invocation: Invocation): Promise<Outcome> => {
    const given = requiredArgument(invocation, 0, 'the role')
    const wanted = spellPermissions(invocation)
    if (wanted.length === 0) throw new UsageError('a permission is missing')
    return withDatabase(invocation, async (db) => {
      const [role = given] = await spellRoles(db, [given])
      const { changed } = await db.write(operation, { role, permissions: wanted, stamp: commandStamp() })
      const now = (await listRoles(db.read)).find((listed) => listed.role === role)?.permissions ?? []
      const state = `${role} has ${now.join(', ') || 'no permissions'}.`
      return {
        value: { role, changed, permissions: now },
        text: changed.length === 0 ? `Nothing to change: ${state}` : state,
      }
    })
  }

/** The permissions after the role on the command line. */
function spellPermissions({ positionals }: Invocation): Permission[] {
  return spell('permission', splitCommas(positionals.slice(1)), permissions)
}

/** The roles as the table spells them. Throws `Refused` naming all roles. */
export async function spellRoles(db: AppDatabase, given: string[]): Promise<string[]> {
  return spell('role', given, await roleNames(db.read))
}

/** Each name once, in the spelling that `known` has, and sorted. Case is ignored. */
function spell<Name extends string>(what: string, given: string[], known: readonly Name[]): Name[] {
  const byFolded = new Map(known.map((name) => [name.toLowerCase(), name]))
  const unknown = given.filter((name) => !byFolded.has(name.toLowerCase()))
  if (unknown.length > 0) {
    throw new Refused(
      `unknown-${what}`,
      `there is no ${what} ${unknown.join(', ')}; the ${what}s are ${known.join(', ')}`,
    )
  }
  const spelled = given.map((name) => byFolded.get(name.toLowerCase()) as Name)
  return [...new Set(spelled)].sort()
}
