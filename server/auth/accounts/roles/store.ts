import type { Kysely, Transaction } from '#kysely'
import { prepared, unseenNumber } from '../../../db/prepared.ts'
import type { Database } from '../../../db/tables.ts'
import type { Permission } from '../../../permissions.ts'

/** Names of a principal's roles, sorted. */
export async function rolesOf(db: Kysely<Database>, principalId: number): Promise<string[]> {
  return (await selectRoles(db, { principalId })).rows.map((row) => row.role)
}

const selectRoles = prepared((db, { principalId }: { principalId: number }) =>
  db
    .selectFrom('principal_roles')
    .select('role')
    .where('principal_id', '=', unseenNumber(principalId))
    .orderBy('role'),
)

/** The roles of each account, sorted: of all accounts, or of those with these ids. */
export async function rolesByPrincipal(
  db: Kysely<Database>,
  ids?: readonly number[],
): Promise<Map<number, string[]>> {
  const rows = await db
    .selectFrom('principal_roles')
    .select(['principal_id', 'role'])
    .$if(ids !== undefined, (query) => query.where('principal_id', 'in', [0, ...(ids ?? [])]))
    .orderBy('role')
    .execute()
  const roles = new Map<number, string[]>()
  for (const row of rows) roles.set(row.principal_id, [...(roles.get(row.principal_id) ?? []), row.role])
  return roles
}

/** Returns the roles that are new to the account, sorted. */
export async function insertRoles(
  trx: Transaction<Database>,
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
  return inserted.map((row) => row.role).sort()
}

/** Returns the roles that the account had, sorted. */
export async function deleteRoles(
  trx: Transaction<Database>,
  principalId: number,
  roles: readonly string[],
): Promise<string[]> {
  const deleted = await trx
    .deleteFrom('principal_roles')
    .where('principal_id', '=', principalId)
    .where('role', 'in', roles)
    .returning('role')
    .execute()
  return deleted.map((row) => row.role).sort()
}

export async function roleNames(db: Kysely<Database>): Promise<string[]> {
  const rows = await db.selectFrom('roles').select('name').orderBy('name').execute()
  return rows.map(({ name }) => name)
}

/** Every role with its permissions. */
export async function readRolePermissions(
  db: Kysely<Database>,
): Promise<{ role: string; permission: string }[]> {
  return db.selectFrom('role_permissions').select(['role', 'permission']).execute()
}

export interface Role {
  role: string
  /** Sorted. */
  permissions: string[]
  /** How many accounts have it. */
  accounts: number
  version: number
}

/** Every role, by name, including those without permissions; there are few. */
export async function listRoles(db: Kysely<Database>): Promise<Role[]> {
  const roles = await db
    .selectFrom('roles')
    .select(['name', 'version'])
    .select((eb) =>
      eb
        .selectFrom('principal_roles')
        .select((counted) => counted.fn.countAll<number>().as('count'))
        .whereRef('principal_roles.role', '=', 'roles.name')
        .as('accounts'),
    )
    .orderBy('name')
    .execute()
  const held = Map.groupBy(await readRolePermissions(db), ({ role }) => role)
  return roles.map(({ name, version, accounts }) => {
    const own = (held.get(name) ?? []).map(({ permission }) => permission)
    return { role: name, permissions: own.sort(), accounts: Number(accounts), version }
  })
}

export async function findRole(db: Kysely<Database>, role: string): Promise<Role | undefined> {
  return (await listRoles(db)).find((listed) => listed.role === role)
}

/** Returns the next version of the role. */
export async function raiseRoleVersion(trx: Transaction<Database>, role: string): Promise<number> {
  const { version } = await trx
    .updateTable('roles')
    .set((eb) => ({ version: eb('version', '+', 1) }))
    .where('name', '=', role)
    .returning('version')
    .executeTakeFirstOrThrow()
  return version
}

/** False if there is a role with this name already. */
export async function insertRole(trx: Transaction<Database>, name: string): Promise<boolean> {
  const inserted = trx
    .insertInto('roles')
    .values({ name })
    .onConflict((conflict) => conflict.doNothing())
  return (await inserted.returning('name').execute()).length > 0
}

/** Deletes the role with its permissions. Fails by the foreign key if an account has it. */
export async function deleteRole(trx: Transaction<Database>, role: string): Promise<void> {
  await trx.deleteFrom('role_permissions').where('role', '=', role).execute()
  await trx.deleteFrom('roles').where('name', '=', role).execute()
}

/** Returns the permissions that are new to the role, sorted. */
export async function insertPermissions(
  trx: Transaction<Database>,
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
  trx: Transaction<Database>,
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
  trx: Transaction<Database>,
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

/** Whether any user (with `id`, this user) can sign in and manage accounts. */
export async function hasAdministrator(db: Kysely<Database>, id?: number): Promise<boolean> {
  const found = await db
    .selectFrom('role_permissions')
    .innerJoin('principal_roles', 'principal_roles.role', 'role_permissions.role')
    .innerJoin('principals', 'principals.id', 'principal_roles.principal_id')
    .innerJoin('users', 'users.principal_id', 'principals.id')
    .select('principals.id')
    .where('permission', '=', managing)
    .where('enabled', '=', 1)
    .where('password_hash', 'is not', null)
    .$if(id !== undefined, (query) => query.where('principals.id', '=', id ?? 0))
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}
