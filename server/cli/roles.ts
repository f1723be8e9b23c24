import { isAccountName } from '../auth/accounts/names.ts'
import { listRoles } from '../auth/accounts/roles/store.ts'
import { type Permission, permissions } from '../permissions.ts'
import { type Invocation, type Outcome, requiredArgument } from './command.ts'
import { commandStamp, withDatabase } from './database.ts'
import { Refused, UsageError } from './failures.ts'
import { spell, spellRoles, splitCommas } from './role-names.ts'
import { table } from './table.ts'

export async function runListRoles(invocation: Invocation): Promise<Outcome> {
  const roles = await withDatabase(invocation, (db) => listRoles(db.read))
  return {
    value: roles.map(({ role, permissions }) => ({ role, permissions })),
    text: table(
      ['ROLE', 'PERMISSIONS'],
      roles.map((role) => [role.role, role.permissions.join(', ') || '-']),
    ),
  }
}

export async function runAddRole(invocation: Invocation): Promise<Outcome> {
  const role = requiredArgument(invocation, 0, 'the role')
  if (!isAccountName(role)) {
    throw new Refused(
      'invalid-role',
      'a role begins with a letter and has at most 64 letters, digits and . _ -',
    )
  }
  const given = splitCommas(invocation.positionals.slice(1))
  const wanted = given.length === 0 ? [] : spellPermissions(given)
  await withDatabase(invocation, (db) =>
    db.write('addRole', { role, permissions: wanted, stamp: commandStamp() }),
  )
  return {
    value: { role, permissions: wanted },
    text: `Added the role ${role} with ${wanted.length === 0 ? 'no permissions' : wanted.join(', ')}.`,
  }
}

export async function runRemoveRole(invocation: Invocation): Promise<Outcome> {
  const given = requiredArgument(invocation, 0, 'the role')
  const { role } = await withDatabase(invocation, async (db) => {
    const [spelled = given] = await spellRoles(db, [given])
    return db.write('removeRole', { role: spelled, stamp: commandStamp() })
  })
  return { value: { role }, text: `Removed the role ${role}.` }
}

export function runAllow(invocation: Invocation): Promise<Outcome> {
  return changePermissions(invocation, 'allowPermissions')
}

export function runDeny(invocation: Invocation): Promise<Outcome> {
  return changePermissions(invocation, 'denyPermissions')
}

async function changePermissions(
  invocation: Invocation,
  operation: 'allowPermissions' | 'denyPermissions',
): Promise<Outcome> {
  const given = requiredArgument(invocation, 0, 'the role')
  const wanted = spellPermissions(splitCommas(invocation.positionals.slice(1)))
  return withDatabase(invocation, async (db) => {
    const [role = given] = await spellRoles(db, [given])
    const { changed } = await db.write(operation, { role, permissions: wanted, stamp: commandStamp() })
    const now = (await listRoles(db.read)).find((listed) => listed.role === role)?.permissions ?? []
    const state = `${role} has ${now.length === 0 ? 'no permissions' : now.join(', ')}.`
    return {
      value: { role, changed, permissions: now },
      text: changed.length === 0 ? `Nothing to change: ${state}` : state,
    }
  })
}

function spellPermissions(given: string[]): Permission[] {
  if (given.length === 0) throw new UsageError('a permission is missing')
  const { spelled, unknown } = spell(given, permissions)
  if (unknown.length > 0) {
    throw new Refused(
      'unknown-permission',
      `there is no permission ${unknown.join(', ')}; the permissions are ${permissions.join(', ')}`,
    )
  }
  return spelled
}
