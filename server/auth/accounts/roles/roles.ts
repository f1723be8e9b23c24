import type { Transaction } from '#kysely'
import type { EventKind, Stamp } from '../../../audit/event.ts'
import { recordEvent } from '../../../audit/events.ts'
import type { Database } from '../../../db/tables.ts'
import { versionTag } from '../../../http/preconditions.ts'
import { Problem } from '../../../http/problems.ts'
import type { Permission } from '../../../permissions.ts'
import { keepAdministrator, lockAdministration } from './administrators.ts'
import type { Refusal } from './refusal.ts'
import {
  countHolders,
  deletePermissions,
  deleteRole,
  findRole,
  insertPermissions,
  insertRole,
  raiseRoleVersion,
  readRolePermissions,
  roleNames,
} from './store.ts'

type Trx = Transaction<Database>

export interface ChangePermissionsInput {
  role: string
  permissions: Permission[]
  stamp: Stamp
}

/** No two roles differ in case alone. */
export async function addRole(
  trx: Trx,
  { role, permissions, stamp }: ChangePermissionsInput,
): Promise<{ role: string } | Refusal> {
  await lockAdministration(trx, stamp)
  const isTaken = (await roleNames(trx)).some((name) => name.toLowerCase() === role.toLowerCase())
  if (isTaken || !(await insertRole(trx, role))) return { refused: 'role-taken' }
  await insertPermissions(trx, role, permissions)
  await recordRole(trx, stamp, 'role-added', role, permissions)
  return { role }
}

/** Only one that no account has: taking it from them is a decision about each. */
export async function removeRole(
  trx: Trx,
  { role, stamp }: { role: string; stamp: Stamp },
): Promise<{ role: string } | Refusal> {
  await lockAdministration(trx, stamp)
  const unknown = await refuseUnknownRoles(trx, [role])
  if (unknown !== undefined) return unknown
  const accounts = await countHolders(trx, role)
  if (accounts > 0) return { refused: 'role-held', accounts }
  const held = (await readRolePermissions(trx)).filter((row) => row.role === role)
  await deleteRole(trx, role)
  await recordRole(
    trx,
    stamp,
    'role-removed',
    role,
    held.map(({ permission }) => permission),
  )
  return { role }
}

/** `changed` names what the role did not hold. Takes effect within PERMISSION_CACHE_TTL_SECONDS everywhere. */
export function allowPermissions(
  trx: Trx,
  input: ChangePermissionsInput,
): Promise<{ changed: string[] } | Refusal> {
  return changePermissions(trx, input, 'permissions-allowed', insertPermissions)
}

/** `changed` names what the role held. Takes effect within PERMISSION_CACHE_TTL_SECONDS; no credential ends for it. */
export function denyPermissions(
  trx: Trx,
  input: ChangePermissionsInput,
): Promise<{ changed: string[] } | Refusal> {
  return changePermissions(trx, input, 'permissions-denied', deletePermissions)
}

function changePermissions(
  trx: Trx,
  { role, permissions, stamp }: ChangePermissionsInput,
  kind: 'permissions-allowed' | 'permissions-denied',
  change: typeof insertPermissions,
): Promise<{ changed: string[] } | Refusal> {
  return keepAdministrator(trx, stamp, async () => {
    const unknown = await refuseUnknownRoles(trx, [role])
    if (unknown !== undefined) return unknown
    const changed = await change(trx, role, permissions)
    if (changed.length > 0) {
      await raiseRoleVersion(trx, role)
      await recordRole(trx, stamp, kind, role, changed)
    }
    return { changed }
  })
}

export interface SetPermissionsInput extends ChangePermissionsInput {
  /** Versions that If-Match accepts; null for any. */
  acceptedVersions: number[] | null
}

/**
 * Gives the role these permissions and no others; takes effect as `allowPermissions` does. Throws `role-not-found`,
 * `precondition-failed`, `last-administrator`.
 */
export function setRolePermissions(
  trx: Trx,
  { role, permissions, acceptedVersions, stamp }: SetPermissionsInput,
): Promise<{ version: number }> {
  return keepAdministrator(trx, stamp, async () => {
    const stored = await findRole(trx, role)
    if (stored === undefined) throw new Problem('role-not-found')
    const { version } = stored
    if (acceptedVersions !== null && !acceptedVersions.includes(version)) {
      throw new Problem('precondition-failed', { headers: { etag: versionTag(version) } })
    }
    const allowed = await insertPermissions(trx, role, permissions)
    const surplus = stored.permissions.filter((held) => !permissions.some((wanted) => wanted === held))
    const denied = await deletePermissions(trx, role, surplus)
    if (allowed.length + denied.length === 0) return { version }
    const subject = { kind: 'role', id: role } as const
    await recordEvent(trx, stamp, { kind: 'permissions-set', subject, data: { allowed, denied } })
    return { version: await raiseRoleVersion(trx, role) }
  })
}

function recordRole(
  trx: Trx,
  stamp: Stamp,
  kind: EventKind<'role'>,
  role: string,
  permissions: string[],
): Promise<void> {
  return recordEvent(trx, stamp, { kind, subject: { kind: 'role', id: role }, data: { permissions } })
}

export async function refuseUnknownRoles(trx: Trx, roles: readonly string[]): Promise<Refusal | undefined> {
  const known = await roleNames(trx)
  const unknown = roles.filter((role) => !known.includes(role))
  return unknown.length > 0 ? { refused: 'unknown-role', unknown, known } : undefined
}
