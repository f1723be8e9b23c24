import type { Stamp } from '../../../caller/stamp.ts'
import { type Acting, requireStanding } from '../../../caller/standing.ts'
import type { Db, Trx } from '../../../db/tables.ts'
import { Problem } from '../../../problems/problems.ts'
import { endUnbackedLinks, hasAdministrator, managing, someAdministrators } from './store.ts'

/** Changes of accounts and roles run one after the other: each holds this row until its transaction ends. */
export async function awaitAdministration(trx: Trx): Promise<void> {
  await trx.updateTable('administration').set('id', 1).execute()
}

/**
 * The lock for a change that needs the permission to manage accounts. The caller must still have it at that
 * moment, not only when the request was admitted: otherwise a person who has just lost it could take it back.
 * Throws `authentication-required`, `permission-denied`.
 */
export async function lockAdministration(trx: Trx, acting: Acting): Promise<void> {
  await awaitAdministration(trx)
  await requireStanding(trx, acting, managing)
}

/**
 * Does the work, and undoes it if it leaves no administrator: no user who can sign in and manage accounts.
 * Everything that could take the permission from an account runs in here, under one lock: if two
 * administrators take it from each other, the second is refused. A new database has no administrator, and
 * need not keep one. The links of an account that has lost the permission end. Throws `last-administrator`,
 * and what `lockAdministration` throws.
 */
export async function keepAdministrator<Result>(
  trx: Trx,
  stamp: Stamp,
  work: () => Promise<Result>,
): Promise<Result> {
  await lockAdministration(trx, stamp)
  const isManaged = await hasAdministrator(trx)
  const result = await work()
  if (isManaged && !(await hasAdministrator(trx))) throw new Problem('last-administrator')
  await endUnbackedLinks(trx)
  return result
}

/** Whom a person can turn to, for a mail. */
export async function anAdministrator(db: Db): Promise<string> {
  const names = await someAdministrators(db, 3)
  return names.length === 0 ? 'an administrator' : `an administrator: ${names.join(', ')}`
}
