import type { Transaction } from '#kysely'
import type { Stamp } from '../../../audit/audit.ts'
import type { Database } from '../../../db/tables.ts'
import { Problem } from '../../../http/problems.ts'
import { hasAdministrator, managing } from './store.ts'

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
      detail: `The permission ${managing} is needed.`,
      members: { permission: managing },
    })
  }
}

/**
 * Does the work, and undoes it if nobody is left who may manage accounts. Whatever could take that from somebody is done
 * in here: under one lock, so that two who take it from each other do it one after the other, and the second is refused.
 * Throws `last-administrator`, and what `lockAdministration` does. Where there was nobody before, as in a new database,
 * nobody is kept.
 */
export async function keepAdministrator<Result>(
  trx: Transaction<Database>,
  stamp: Stamp,
  work: () => Promise<Result>,
): Promise<Result> {
  await lockAdministration(trx, stamp)
  const isManaged = await hasAdministrator(trx)
  const result = await work()
  if (isManaged && !(await hasAdministrator(trx))) throw new Problem('last-administrator')
  return result
}
