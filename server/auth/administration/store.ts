import type { Kysely, Transaction } from '#kysely'
import type { Database } from '../../db/tables.ts'
import { Problem } from '../../http/problems.ts'
import type { Permission } from '../../permissions.ts'

const permission: Permission = 'Accounts.Manage'

/**
 * Changes of accounts and roles come one after the other: each holds this row until its transaction ends. A person who
 * asks for one must still be allowed to manage accounts when it is made, and not only when the request was let in:
 * otherwise who has just lost the permission could take it back. Throws `permission-denied`.
 */
export async function lockAdministration(
  trx: Transaction<Database>,
  { byId }: { byId: number | null },
): Promise<void> {
  await trx.updateTable('administration').set('id', 1).execute()
  if (byId !== null && !(await hasAdministrator(trx, byId))) {
    throw new Problem('permission-denied', {
      detail: `The permission ${permission} is needed.`,
      members: { permission },
    })
  }
}

/** Whether there is a user, or this is one, who can sign in and may manage accounts. */
export async function hasAdministrator(db: Kysely<Database>, id?: number): Promise<boolean> {
  const found = await db
    .selectFrom('role_permissions')
    .innerJoin('principal_roles', 'principal_roles.role', 'role_permissions.role')
    .innerJoin('principals', 'principals.id', 'principal_roles.principal_id')
    .innerJoin('users', 'users.principal_id', 'principals.id')
    .select('principals.id')
    .where('permission', '=', permission)
    .where('enabled', '=', 1)
    .where('password_hash', 'is not', null)
    .$if(id !== undefined, (query) => query.where('principals.id', '=', id ?? 0))
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
