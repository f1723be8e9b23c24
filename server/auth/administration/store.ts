import type { Kysely, Transaction } from 'kysely'
import type { Database } from '../../db/tables.ts'
import type { Permission } from '../permissions.ts'

/** Changes of accounts and roles come one after the other: each holds this row until its transaction ends. */
export async function lockAdministration(trx: Transaction<Database>): Promise<void> {
  await trx.updateTable('administration').set('id', 1).execute()
}

const neededPermission: Permission = 'Accounts.Manage'

/** Whether there is a user who can sign in and may manage accounts. */
export async function hasAdministrator(db: Kysely<Database>): Promise<boolean> {
  const found = await db
    .selectFrom('role_permissions')
    .innerJoin('principal_roles', 'principal_roles.role', 'role_permissions.role')
    .innerJoin('principals', 'principals.id', 'principal_roles.principal_id')
    .innerJoin('users', 'users.principal_id', 'principals.id')
    .select('principals.id')
    .where('permission', '=', neededPermission)
    .where('enabled', '=', 1)
    .where('password_hash', 'is not', null)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/**
 * Locks the account. False when there is none of this kind and number, or it has another version than those: a write that
 * changes nothing decides, and every other change of it waits or was first.
 */
export async function lockAccount(
  trx: Transaction<Database>,
  kind: 'user' | 'client',
  id: number,
  acceptedVersions: readonly number[] | null,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('principals')
    .set('kind', kind)
    .where('id', '=', id)
    .where('kind', '=', kind)
    // No version is 0: an empty list accepts none.
    .$if(acceptedVersions !== null, (query) => query.where('version', 'in', [0, ...(acceptedVersions ?? [])]))
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
