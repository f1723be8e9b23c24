/** Roles: names for sets of permissions. The last account that can manage accounts keeps that permission. */
import { type EventKind, recordEvent } from '../../../audit/audit.ts'
import type { Permission } from '../../../caller/permissions.ts'
import type { Stamp } from '../../../caller/stamp.ts'
import type { Trx } from '../../../db/tables.ts'
import { type AcceptedVersions, requireVersion } from '../../../http/preconditions.ts'
import { Problem } from '../../../problems/problems.ts'
import { keepAdministrator, lockAdministration } from './administrators.ts'
import {
  deletePermissions,
  deleteRole,
  findRole,
  insertPermissions,
  insertRole,
  needsOfRole,
  type Role,
  raiseRoleVersion,
  roleNames,
} from './store.ts'

export interface ChangePermissionsInput {
  role: string
  permissions: Permission[]
  stamp: Stamp
}

/** Throws `name-taken`: role names are unique, ignoring case. */
export async function addRole(
  trx: Trx,
  { role, permissions, stamp }: ChangePermissionsInput,
): Promise<{ role: string }> {
  await lockAdministration(trx, stamp)
  const isTaken = (await roleNames(trx)).some((name) => name.toLowerCase() === role.toLowerCase())
  if (isTaken || !(await insertRole(trx, role))) throw new Problem('name-taken')
  await insertPermissions(trx, role, permissions)
  await recordRole(trx, stamp, 'role-added', role, permissions)
  return { role }
}

/**
 * Throws `role-not-found`, and `role-held` while an account has the role, or the approval policy or a pending
 * order asks for it.
 */
export async function removeRole(
  trx: Trx,
  { role, stamp }: { role: string; stamp: Stamp },
): Promise<{ role: string }> {
  await lockAdministration(trx, stamp)
  const { accounts, permissions } = await requireRole(trx, role)
  if (accounts === 0) await deleteRole(trx, role)
  const { policy, orders } = await needsOfRole(trx, role)
  if (accounts + policy + orders > 0) {
    const policyNames = policy > 0 && { detail: 'The approval policy names the role.' }
    const ordersNeed = orders > 0 && { detail: `Pending orders need the role: ${orders}.` }
    throw new Problem('role-held', { ...ordersNeed, ...policyNames, members: { accounts, orders } })
  }
  await recordRole(trx, stamp, 'role-removed', role, permissions)
  return { role }
}

/**
 * `changed` names the permissions that are new to the role. Takes effect within PERMISSION_CACHE_TTL_SECONDS.
 */
export function allowPermissions(trx: Trx, input: ChangePermissionsInput): Promise<{ changed: string[] }> {
  return changePermissions(trx, input, 'permissions-allowed', insertPermissions)
}

/**
 * `changed` names the permissions that the role had. Takes effect like `allowPermissions`, and ends no
 * credential.
 */
export function denyPermissions(trx: Trx, input: ChangePermissionsInput): Promise<{ changed: string[] }> {
  return changePermissions(trx, input, 'permissions-denied', deletePermissions)
}

function changePermissions(
  trx: Trx,
  { role, permissions, stamp }: ChangePermissionsInput,
  kind: 'permissions-allowed' | 'permissions-denied',
  change: typeof insertPermissions,
): Promise<{ changed: string[] }> {
  return keepAdministrator(trx, stamp, async () => {
    await requireRole(trx, role)
    const changed = await change(trx, role, permissions)
    if (changed.length > 0) {
      await raiseRoleVersion(trx, role)
      await recordRole(trx, stamp, kind, role, changed)
    }
    return { changed }
  })
}

export interface SetPermissionsInput extends ChangePermissionsInput {
  acceptedVersions: AcceptedVersions
}

/**
 * Gives the role exactly these permissions. Takes effect like `allowPermissions`. Throws `role-not-found`,
 * `precondition-failed`, `last-administrator`.
 */
export function setRolePermissions(
  trx: Trx,
  { role, permissions, acceptedVersions, stamp }: SetPermissionsInput,
): Promise<{ version: number }> {
  return keepAdministrator(trx, stamp, async () => {
    const { version, ...stored } = await requireRole(trx, role)
    requireVersion(acceptedVersions, version)
    const allowed = await insertPermissions(trx, role, permissions)
    const surplus = stored.permissions.filter((held) => !permissions.some((wanted) => wanted === held))
    const denied = await deletePermissions(trx, role, surplus)
    if (allowed.length + denied.length === 0) return { version }
    const subject = { kind: 'role', id: role } as const
    await recordEvent(trx, stamp, { kind: 'permissions-set', subject, facts: { allowed, denied } })
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
  return recordEvent(trx, stamp, { kind, subject: { kind: 'role', id: role }, facts: { permissions } })
}

/** Throws `unknown-role` unless all these roles exist. */
export async function requireRoles(trx: Trx, roles: readonly string[]): Promise<void> {
  const known = await roleNames(trx)
  const unknown = roles.filter((role) => !known.includes(role))
  if (unknown.length === 0) return
  throw new Problem('unknown-role', { detail: `There is no role ${unknown.join(', ')}.` })
}

/** Throws `role-not-found`. */
async function requireRole(trx: Trx, role: string): Promise<Role> {
  const stored = await findRole(trx, role)
  if (stored === undefined) throw new Problem('role-not-found')
  return stored
}
