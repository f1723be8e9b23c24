import type { Kysely, NotNull, Transaction } from '#kysely'
import type { Database } from '../../../db/tables.ts'
import { Problem } from '../../../http/problems.ts'
import { removal } from '../../../upkeep.ts'
import {
  type CheckedCredentials,
  foldName,
  type ListedAccount,
  selectAccounts,
  type Which,
  withRoles,
} from '../store.ts'

/** A user, with what a sign-in checks. */
export interface UserCredentials extends CheckedCredentials {
  userName: string
  email: string
  enabled: boolean
}

/** `email` in lower case, as stored. Does not find a user who has not set a password yet. */
export async function findUserByEmail(
  db: Kysely<Database>,
  email: string,
): Promise<UserCredentials | undefined> {
  return toCredentials(await selectCredentials(db).where('email', '=', email).executeTakeFirst())
}

export async function findUserById(db: Kysely<Database>, id: number): Promise<UserCredentials | undefined> {
  return toCredentials(await selectCredentials(db).where('principals.id', '=', id).executeTakeFirst())
}

function selectCredentials(db: Kysely<Database>) {
  return db
    .selectFrom('users')
    .innerJoin('principals', 'principals.id', 'users.principal_id')
    .select([
      'principals.id as principalId',
      'name as userName',
      'email',
      'password_hash as passwordHash',
      'enabled',
      'credentials_changed_at as credentialsChangedAt',
    ])
    .where('password_hash', 'is not', null)
    .$narrowType<{ passwordHash: NotNull }>()
}

function toCredentials<T extends { enabled: number }>(row: T | undefined) {
  return row && { ...row, enabled: row.enabled === 1 }
}

/** A user as administrators see it. */
export interface UserAccount extends ListedAccount {
  userName: string
  email: string
  timeZone: string | null
  /** False until the user has set a password by a link: until then there is no way to sign in. */
  hasPassword: boolean
}

export async function listUsers(db: Kysely<Database>, which: Which = 'all'): Promise<UserAccount[]> {
  const rows = await selectAccounts(db, which)
    .innerJoin('users', 'users.principal_id', 'principals.id')
    .select(['name as userName', 'email', 'time_zone as timeZone'])
    .select((eb) => eb.case().when('password_hash', 'is', null).then(0).else(1).end().as('hasPassword'))
    .execute()
  const users = await withRoles(db, rows, which)
  return users.map((user) => ({ ...user, hasPassword: user.hasPassword === 1 }))
}

export async function findUser(db: Kysely<Database>, id: number): Promise<UserAccount | undefined> {
  return (await listUsers(db, { id }))[0]
}

/** Throws `name-taken` if another user or client has the name, ignoring case. */
export async function updateUserName(trx: Transaction<Database>, id: number, name: string): Promise<void> {
  const folded = foldName(name)
  const { numUpdatedRows } = await trx
    .updateTable('principals')
    .set({ name, name_folded: folded })
    .where('id', '=', id)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('principals as other')
            .select('other.id')
            .where('other.name_folded', '=', folded)
            .where('other.id', '!=', id),
        ),
      ),
    )
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw new Problem('name-taken')
}

/** Throws `email-taken`. */
export async function updateEmail(trx: Transaction<Database>, id: number, email: string): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable('users')
    .set('email', email)
    .where('principal_id', '=', id)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('users as other').select('other.principal_id').where('other.email', '=', email))),
    )
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw new Problem('email-taken')
}

export async function updateTimeZone(
  trx: Transaction<Database>,
  id: number,
  timeZone: string | null,
): Promise<void> {
  await trx.updateTable('users').set('time_zone', timeZone).where('principal_id', '=', id).execute()
}

/** Throws `email-taken`. */
export async function insertUser(
  trx: Transaction<Database>,
  principalId: number,
  user: { email: string; passwordHash: string | null; timeZone: string | null },
): Promise<void> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('users')
    .values({
      principal_id: principalId,
      email: user.email,
      password_hash: user.passwordHash,
      time_zone: user.timeZone,
    })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .executeTakeFirstOrThrow()
  if (numInsertedOrUpdatedRows === 0n) throw new Problem('email-taken')
}

export async function updatePassword(
  trx: Transaction<Database>,
  principalId: number,
  passwordHash: string,
): Promise<void> {
  await trx
    .updateTable('users')
    .set('password_hash', passwordHash)
    .where('principal_id', '=', principalId)
    .execute()
}

/** The next `limit` users after the number `afterId`. */
export async function nextUserIds(
  trx: Transaction<Database>,
  { afterId, limit }: { afterId: number; limit: number },
): Promise<number[]> {
  const rows = await trx
    .selectFrom('principals')
    .select('id')
    .where('kind', '=', 'user')
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

/** The user whose link it is. */
export interface LinkHolder {
  principalId: number
  userName: string
  email: string
}

/** Undefined if the link does not exist or has expired, or its user is disabled. */
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

/** A user has one link: a new one replaces it. */
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

/** False if it does not exist or has expired. Exactly one of any number of simultaneous uses finds it. */
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

export const expiredLinks = removal({
  name: 'removeExpiredLinks',
  table: 'one_time_links',
  key: ['principal_id'],
  since: 'expires_at',
  batch: 50,
})
