import { type SqlBool, sql } from '#kysely'
import type { Permission } from '../../../caller/permissions.ts'
import { holds } from '../../../caller/standing.ts'
import { awaitWriters } from '../../../db/engine.ts'
import { prepared, unseenNumber } from '../../../db/prepared.ts'
import type { Db, Trx } from '../../../db/tables.ts'
import { readableStatuses } from '../../../db/tables-of-both.ts'

/** Names of a principal's roles, sorted. */
export async function rolesOf(db: Db, principalId: number): Promise<string[]> {
  return (await selectRoles(db, { principalId })).rows.map((row) => row.role)
}

const selectRoles = prepared((db, { principalId }: { principalId: number }) =>
  db
    .selectFrom('principal_roles')
    .select('role')
    .where('principal_id', '=', unseenNumber(principalId))
    .orderBy('role'),
)

/** The sorted roles of each account. */
export async function rolesByPrincipal(db: Db, ids: readonly number[]): Promise<Map<number, string[]>> {
  const rows = await db
    .selectFrom('principal_roles')
    .select(['principal_id', 'role'])
    .where('principal_id', 'in', [0, ...ids])
    .orderBy('role')
    .execute()
  const roles = new Map<number, string[]>()
  for (const row of rows) roles.set(row.principal_id, [...(roles.get(row.principal_id) ?? []), row.role])
  return roles
}

/** Returns the roles that are new to the account, sorted. */
export async function insertRoles(
  trx: Trx,
  principalId: number,
  roles: readonly string[],
): Promise<string[]> {
  if (roles.length === 0) return []
  const inserted = await trx
    .insertInto('principal_roles')
    .values([...new Set(roles)].map((role) => ({ principal_id: principalId, role })))
    .onConflict((conflict) => conflict.columns(['principal_id', 'role']).doNothing())
    .returning('role')
    .execute()
  return countHolders(trx, inserted, 1)
}

/** Returns the roles that the account had, sorted. */
export async function deleteRoles(
  trx: Trx,
  principalId: number,
  roles: readonly string[],
): Promise<string[]> {
  const deleted = await trx
    .deleteFrom('principal_roles')
    .where('principal_id', '=', principalId)
    .where('role', 'in', roles)
    .returning('role')
    .execute()
  return countHolders(trx, deleted, -1)
}

/** Keeps the count of accounts of each role that was given or taken. Returns these roles, sorted. */
async function countHolders(trx: Trx, moved: { role: string }[], difference: 1 | -1): Promise<string[]> {
  const roles = moved.map(({ role }) => role).sort()
  for (const role of roles) {
    await trx
      .updateTable('roles')
      .set((eb) => ({ accounts: eb('accounts', '+', difference) }))
      .where('name', '=', role)
      .execute()
  }
  return roles
}

export async function roleNames(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('roles').select('name').orderBy('name').execute()
  return rows.map(({ name }) => name)
}

/** Every role with its permissions. */
export async function readRolePermissions(db: Db): Promise<{ role: string; permission: string }[]> {
  return db.selectFrom('role_permissions').select(['role', 'permission']).execute()
}

export interface Role {
  role: string
  /** Sorted. */
  permissions: string[]
  accounts: number
  version: number
}

/** Every role, by name, including those without permissions; there are few. */
export async function listRoles(db: Db): Promise<Role[]> {
  const roles = await db.selectFrom('roles').select(['name', 'version', 'accounts']).orderBy('name').execute()
  const held = Map.groupBy(await readRolePermissions(db), ({ role }) => role)
  return roles.map(({ name, version, accounts }) => {
    const own = (held.get(name) ?? []).map(({ permission }) => permission)
    return { role: name, permissions: own.sort(), accounts, version }
  })
}

export async function findRole(db: Db, role: string): Promise<Role | undefined> {
  return (await listRoles(db)).find((listed) => listed.role === role)
}

export async function raiseRoleVersion(trx: Trx, role: string): Promise<number> {
  const { version } = await trx
    .updateTable('roles')
    .set((eb) => ({ version: eb('version', '+', 1) }))
    .where('name', '=', role)
    .returning('version')
    .executeTakeFirstOrThrow()
  return version
}

/** False if there is a role with this name already. */
export async function insertRole(trx: Trx, name: string): Promise<boolean> {
  const inserted = trx
    .insertInto('roles')
    .values({ name })
    .onConflict((conflict) => conflict.doNothing())
  return (await inserted.returning('name').execute()).length > 0
}

/** Deletes the role with its permissions. Fails by the foreign key if an account has it. */
export async function deleteRole(trx: Trx, role: string): Promise<void> {
  await trx.deleteFrom('role_permissions').where('role', '=', role).execute()
  await trx.deleteFrom('roles').where('name', '=', role).execute()
}

/**
 * How many rows of the policy and pending orders ask for the role. Asked once the role is deleted: until then
 * a new policy may still name it (`requireRolesOf`). An order that is just being created may have the policy
 * of before, so it is waited for.
 */
export async function needsOfRole(trx: Trx, role: string): Promise<{ policy: number; orders: number }> {
  await awaitWriters(trx, 'orders')
  const { rows } = await sql<{ policy: number; orders: number }>`select
    (select count(*) from approval_policy where role_needed = ${role}) as policy,
    (select count(*) from orders where status = ${sql.lit(readableStatuses.Pending)} and role_needed = ${role})
      as orders`.execute(trx)
  return { policy: Number(rows[0]?.policy), orders: Number(rows[0]?.orders) }
}

/** Returns the permissions that are new to the role, sorted. */
export async function insertPermissions(
  trx: Trx,
  role: string,
  permissions: readonly Permission[],
): Promise<string[]> {
  if (permissions.length === 0) return []
  const inserted = await trx
    .insertInto('role_permissions')
    .values(permissions.map((permission) => ({ role, permission })))
    .onConflict((conflict) => conflict.columns(['role', 'permission']).doNothing())
    .returning('permission')
    .execute()
  return inserted.map((row) => row.permission).sort()
}

/** Returns the permissions that the role had, sorted. */
export async function deletePermissions(
  trx: Trx,
  role: string,
  permissions: readonly string[],
): Promise<string[]> {
  if (permissions.length === 0) return []
  const deleted = await trx
    .deleteFrom('role_permissions')
    .where('role', '=', role)
    .where('permission', 'in', permissions)
    .returning('permission')
    .execute()
  return deleted.map((row) => row.permission).sort()
}

/**
 * Takes the roles from every session of the account. Sessions hold few different sets of roles; each set is
 * one UPDATE.
 */
export async function takeRolesFromSessions(
  trx: Trx,
  principalId: number,
  taken: readonly string[],
): Promise<void> {
  const sets = await trx
    .selectFrom('sessions')
    .select('roles')
    .distinct()
    .where('principal_id', '=', principalId)
    .execute()
  for (const { roles } of sets) {
    const left = (JSON.parse(roles) as string[]).filter((role) => !taken.includes(role))
    await trx
      .updateTable('sessions')
      .set('roles', JSON.stringify(left))
      .where('principal_id', '=', principalId)
      .where('roles', '=', roles)
      .execute()
  }
}

export const managing: Permission = 'Accounts.Manage'

/** The names of some users who can manage accounts, the oldest accounts first. */
export async function someAdministrators(db: Db, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('principals')
    .select('name')
    .where('kind', '=', 'user')
    .where('enabled', '=', 1)
    .where(holds(managing))
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ name }) => name)
}

/** Whether any user can sign in and manage accounts. */
export async function hasAdministrator(db: Db): Promise<boolean> {
  const found = await db
    .selectFrom('role_permissions')
    .innerJoin('principal_roles', 'principal_roles.role', 'role_permissions.role')
    .innerJoin('principals', 'principals.id', 'principal_roles.principal_id')
    .innerJoin('users', 'users.principal_id', 'principals.id')
    .select('principals.id')
    .where('permission', '=', managing)
    .where('enabled', '=', 1)
    .where((eb) =>
      eb.or([
        eb('password_hash', 'is not', null),
        eb.exists(
          eb
            .selectFrom('passkeys')
            .select('passkeys.id')
            .whereRef('passkeys.principal_id', '=', 'principals.id'),
        ),
        eb.exists(
          eb
            .selectFrom('company_accounts')
            .select('company_accounts.principal_id')
            .whereRef('company_accounts.principal_id', '=', 'principals.id'),
        ),
      ]),
    )
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/**
 * For good: a restored role does not bring back the one-time links that an administrator had made for others.
 */
export async function endUnbackedLinks(trx: Trx): Promise<void> {
  const isBacked = sql<SqlBool>`exists (select 1 from principals
    where principals.id = one_time_links.asked_by_id and enabled = 1 and ${holds(managing)})`
  await trx
    .deleteFrom('one_time_links')
    .where('asked_by_id', 'is not', null)
    .where('kind', '!=', 'email')
    .where((eb) => eb.not(isBacked))
    .execute()
}
