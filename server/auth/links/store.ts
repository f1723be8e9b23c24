import type { Kysely, Transaction } from '#kysely'
import type { Database } from '../../db/tables.ts'

/** Whose link it is. */
export interface LinkHolder {
  principalId: number
  userName: string
  email: string
}

/** Undefined when the link is not there, or has expired, or its user is disabled. */
export async function findLinkHolder(
  db: Kysely<Database>,
  link: { tokenHash: string; nowMilliseconds: number },
): Promise<LinkHolder | undefined> {
  return db
    .selectFrom('one_time_links')
    .innerJoin('principals', 'principals.id', 'one_time_links.principal_id')
    .innerJoin('users', 'users.principal_id', 'principals.id')
    .select(['principals.id as principalId', 'name as userName', 'email'])
    .where('token_hash', '=', link.tokenHash)
    .where('expires_at', '>', link.nowMilliseconds)
    .where('enabled', '=', 1)
    .executeTakeFirst()
}

/** A user has one link: a new one takes the place of the older. */
export async function replaceLink(
  trx: Transaction<Database>,
  link: { principalId: number; tokenHash: string; expiresAt: number },
): Promise<void> {
  const values = { token_hash: link.tokenHash, expires_at: link.expiresAt }
  await trx
    .insertInto('one_time_links')
    .values({ principal_id: link.principalId, ...values })
    .onConflict((conflict) => conflict.column('principal_id').doUpdateSet(values))
    .execute()
}

/** False when it is not there, or has expired: of any number of simultaneous uses exactly one finds it. */
export async function takeLink(
  trx: Transaction<Database>,
  link: { principalId: number; tokenHash: string; nowMilliseconds: number },
): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('one_time_links')
    .where('principal_id', '=', link.principalId)
    .where('token_hash', '=', link.tokenHash)
    .where('expires_at', '>', link.nowMilliseconds)
    .executeTakeFirst()
  return numDeletedRows === 1n
}

/** Whatever link the user has no longer works. */
export async function voidLink(trx: Transaction<Database>, principalId: number): Promise<void> {
  await trx.deleteFrom('one_time_links').where('principal_id', '=', principalId).execute()
}

/** Deletes at most `limit` links that have expired. Returns the number of rows. */
export async function removeExpiredLinks(
  trx: Transaction<Database>,
  { nowMilliseconds, limit }: { nowMilliseconds: number; limit: number },
): Promise<number> {
  const expired = trx
    .selectFrom('one_time_links')
    .select('principal_id')
    .where('expires_at', '<=', nowMilliseconds)
    .limit(limit)
  const { numDeletedRows } = await trx
    .deleteFrom('one_time_links')
    .where('principal_id', 'in', expired)
    .executeTakeFirst()
  return Number(numDeletedRows)
}
