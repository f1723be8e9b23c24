import { sql } from '#kysely'
import { nameOfErased } from '../../../../proof/line.ts'
import { rowsOf } from '../../../db/engine.ts'
import type { Database, Db, Trx } from '../../../db/tables.ts'
import { Problem } from '../../../problems/problems.ts'
import { removal } from '../../../upkeep.ts'
import { type AccountsRequest, type FoundAccounts, findAccountIds } from '../query.ts'
import { type CheckedCredentials, foldName, type ListedAccount, selectAccounts, withRoles } from '../store.ts'

/** A user, with the facts that a sign-in checks. */
export interface UserCredentials extends CheckedCredentials {
  userName: string
  email: string
  enabled: boolean
}

/** `email` in lower case, as stored. */
export async function findUserByEmail(db: Db, email: string): Promise<UserCredentials | undefined> {
  return toCredentials(await selectCredentials(db).where('email', '=', email).executeTakeFirst())
}

export async function findEnabledByEmail(db: Db, emails: readonly string[]): Promise<number[]> {
  const rows = await db
    .selectFrom('users')
    .innerJoin('principals', 'principals.id', 'principal_id')
    .select('principal_id as id')
    .where('email', 'in', ['', ...emails])
    .where('enabled', '=', 1)
    .execute()
  return rows.map(({ id }) => id)
}

export async function findUserById(db: Db, id: number): Promise<UserCredentials | undefined> {
  return toCredentials(await selectCredentials(db).where('principals.id', '=', id).executeTakeFirst())
}

export function selectCredentials(db: Db) {
  return db
    .selectFrom('users')
    .innerJoin('principals', 'principals.id', 'users.principal_id')
    .select([
      'principals.id as principalId',
      'principals.name as userName',
      'email',
      'password_hash as passwordHash',
      'enabled',
      'credentials_changed_at as credentialsChangedAt',
    ])
}

function toCredentials<T extends { enabled: number }>(row: T | undefined) {
  return row && { ...row, enabled: row.enabled === 1 }
}

/** Which of these emails and names accounts have. The names are in lower case, like emails. */
export async function findTaken(
  db: Db,
  wanted: readonly { email: string; userName: string }[],
): Promise<Record<'emails' | 'names', Set<string>>> {
  const emails = rowsOf(
    db,
    wanted.map(({ email }) => email),
  )
  const names = rowsOf(
    db,
    wanted.map(({ userName }) => foldName(userName)),
  )
  const users = await sql<{ value: string }>`select value from ${emails} join users on email = value`.execute(
    db,
  )
  const principals = await sql<{
    value: string
  }>`select value from ${names} join principals on name_folded = value`.execute(db)
  const valuesOf = ({ rows }: typeof users) => new Set(rows.map(({ value }) => value))
  return { emails: valuesOf(users), names: valuesOf(principals) }
}

/** A user as administrators see it. */
export interface UserAccount extends ListedAccount {
  /** Null if never, or not since it is recorded. It does not change the version. */
  lastSignInAt: number | null
  userName: string
  /** As it is printed next to the user name; null for none. */
  name: string | null
  email: string
  timeZone: string | null
  /** False until the user has set a password by a link, and again once a passkey took its place. */
  hasPassword: boolean
  /** Whether the user can sign in with a company account. */
  hasCompanyAccount: boolean
}

export async function findUsers(snapshot: Db, request: AccountsRequest): Promise<FoundAccounts<UserAccount>> {
  const { items, totalCount } = await findAccountIds(snapshot, 'user', request)
  return { items: await usersOf(snapshot, items), totalCount }
}

async function usersOf(db: Db, ids: readonly number[]): Promise<UserAccount[]> {
  const rows = await selectAccounts(db, ids)
    .innerJoin('users', 'users.principal_id', 'principals.id')
    .leftJoin('company_accounts', 'company_accounts.principal_id', 'principals.id')
    .select(['principals.name as userName', 'full_name as name', 'email', 'time_zone as timeZone'])
    .select(['last_signed_in_at as lastSignInAt', 'issuer'])
    .select((eb) => eb.case().when('password_hash', 'is', null).then(0).else(1).end().as('hasPassword'))
    .execute()
  const users = await withRoles(db, rows)
  return users.map(({ issuer, ...user }) => ({
    ...user,
    hasPassword: user.hasPassword === 1,
    hasCompanyAccount: issuer !== null,
  }))
}

export async function findUser(db: Db, id: number): Promise<UserAccount | undefined> {
  return (await usersOf(db, [id]))[0]
}

export async function emailOf(db: Db, id: number): Promise<string> {
  const user = db.selectFrom('users').select('email').where('principal_id', '=', id)
  return (await user.executeTakeFirstOrThrow()).email
}

/** Throws `name-taken` if another user or client has the name, ignoring case. */
export async function updateUserName(trx: Trx, id: number, name: string): Promise<void> {
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
export async function updateEmail(trx: Trx, id: number, email: string): Promise<void> {
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

export async function updateUser(
  trx: Trx,
  id: number,
  values: Partial<Pick<Database['users'], 'time_zone' | 'full_name'>>,
): Promise<void> {
  await trx.updateTable('users').set(values).where('principal_id', '=', id).execute()
}

/** Throws `email-taken`. */
export async function insertUser(
  trx: Trx,
  principalId: number,
  user: { email: string; timeZone: string | null; fullName?: string | null; password: Password },
): Promise<void> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('users')
    .values({
      principal_id: principalId,
      email: user.email,
      ...passwordColumns(user.password),
      time_zone: user.timeZone,
      full_name: user.fullName ?? null,
    })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .executeTakeFirstOrThrow()
  if (numInsertedOrUpdatedRows === 0n) throw new Problem('email-taken')
}

/** Where the password of a user comes from. `setBy` is null for a command line. */
export type PasswordOrigin = 'own' | 'mailed' | { setBy: number | null }

export interface Password {
  /** Null for none. */
  passwordHash: string | null
  origin: PasswordOrigin
}

const passwordColumns = ({ passwordHash, origin }: Password) => ({
  password_hash: passwordHash,
  password_origin: typeof origin === 'string' ? origin : ('set' as const),
  password_set_by: typeof origin === 'string' ? null : origin.setBy,
})

export async function updatePassword(trx: Trx, principalId: number, password: Password): Promise<void> {
  await trx
    .updateTable('users')
    .set(passwordColumns(password))
    .where('principal_id', '=', principalId)
    .execute()
}

/** False if the person was erased before. Nobody else can have the name (http/text.ts). */
export async function forgetUser(
  trx: Trx,
  id: number,
  name: string,
  nowMilliseconds: number,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('users')
    .set({
      ...passwordColumns({ passwordHash: null, origin: 'own' }),
      email: `${name}@erased.invalid`,
      full_name: null,
      time_zone: null,
      erased_at: nowMilliseconds,
    })
    .where('principal_id', '=', id)
    .where('erased_at', 'is', null)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await updateUserName(trx, id, name)
  await trx.updateTable('principals').set('last_signed_in_at', null).where('id', '=', id).execute()
  return true
}

/**
 * Deletes the rows about an account that say something of its person. Mail to others that names the person
 * stays, without the name.
 */
export async function deleteTraces(trx: Trx, id: number, email: string): Promise<void> {
  const tables = [
    'company_accounts',
    'sessions',
    'refresh_families',
    'mail_settings',
    'idempotency_keys',
  ] as const
  for (const table of tables) await trx.deleteFrom(table).where('principal_id', '=', id).execute()
  await trx.deleteFrom('views').where('owner_id', '=', id).execute()
  await trx
    .deleteFrom('absences')
    .where((eb) => eb.or([eb('principal_id', '=', id), eb('deputy_id', '=', id)]))
    .execute()
  await trx
    .deleteFrom('mails')
    .where((eb) =>
      eb.or([
        eb('recipient', 'in', [email, String(id)]),
        eb('principal_id', '=', id),
        eb('about', 'like', `{"principalId":${id},%`),
      ]),
    )
    .execute()
  const toOthers = trx.selectFrom('mails').select(['id', 'about']).where('about', 'like', `%"byId":${id},%`)
  for (const mail of await toOthers.execute()) {
    const about = JSON.stringify({ ...JSON.parse(mail.about), by: nameOfErased(id) })
    await trx.updateTable('mails').set({ about }).where('id', '=', mail.id).execute()
  }
}

/** Returns the ids of the passkeys that the user had; with an id, only that one is deleted. */
export async function deletePasskeys(trx: Trx, principalId: number, id?: string): Promise<string[]> {
  const rows = await trx
    .deleteFrom('passkeys')
    .where('principal_id', '=', principalId)
    .$if(id !== undefined, (query) => query.where('id', '=', id ?? ''))
    .returning('id')
    .execute()
  return rows.map((row) => row.id)
}

/** The next `limit` users after the number `afterId`. */
export async function nextUserIds(
  trx: Trx,
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

export interface LinkHolder {
  principalId: number
  userName: string
  email: string
}

/** What a link is for: a new password, or a new email. Neither works as the other. */
export type LinkPurpose = 'password' | 'email'

const kindsFor = { password: ['shown', 'sent', 'forgotten'], email: ['email'] } as const

/** Undefined if the link does not work, or its user is disabled. */
export async function findLinkHolder(
  db: Db,
  link: { tokenHash: string; purpose: LinkPurpose; nowMilliseconds: number },
): Promise<LinkHolder | undefined> {
  return db
    .selectFrom('one_time_links')
    .innerJoin('principals', 'principals.id', 'one_time_links.principal_id')
    .innerJoin('users', 'users.principal_id', 'principals.id')
    .select(['principals.id as principalId', 'name as userName', 'email'])
    .where('token_hash', '=', link.tokenHash)
    .where('one_time_links.kind', 'in', kindsFor[link.purpose])
    .where('expires_at', '>', link.nowMilliseconds)
    .where('enabled', '=', 1)
    .executeTakeFirst()
}

export interface NewLink {
  principalId: number
  kind: 'shown' | 'sent' | 'forgotten' | 'email'
  tokenHash: string
  /** The account that asked, and in which sign-in. Absent for a mailbox and for a command line. */
  askedById?: number | null
  signInId?: string | null
  expiresAt: number
  /** Only with the kind `email`. */
  newEmail?: string | null
}

/** Undefined if there is none that works. */
export async function findLink(
  db: Db,
  link: Pick<NewLink, 'principalId' | 'kind'> & { nowMilliseconds: number },
): Promise<Omit<NewLink, 'principalId' | 'kind' | 'tokenHash'> | undefined> {
  return db
    .selectFrom('one_time_links')
    .select(['expires_at as expiresAt', 'new_email as newEmail'])
    .select(['asked_by_id as askedById', 'sign_in_id as signInId'])
    .where('principal_id', '=', link.principalId)
    .where('kind', '=', link.kind)
    .where('expires_at', '>', link.nowMilliseconds)
    .executeTakeFirst()
}

/** A user has one link of each kind: a new one replaces it. */
export async function replaceLink(trx: Trx, link: NewLink): Promise<void> {
  const values = {
    token_hash: link.tokenHash,
    asked_by_id: link.askedById ?? null,
    sign_in_id: link.signInId ?? null,
    expires_at: link.expiresAt,
    new_email: link.newEmail ?? null,
  }
  await trx
    .insertInto('one_time_links')
    .values({ principal_id: link.principalId, kind: link.kind, ...values })
    .onConflict((conflict) => conflict.columns(['principal_id', 'kind']).doUpdateSet(values))
    .execute()
}

/** Ends the link to the new email of a user, unless it is this one. */
export async function endEmailLink(
  trx: Trx,
  { principalId, unlessTo }: { principalId: number; unlessTo: string },
): Promise<void> {
  await trx
    .deleteFrom('one_time_links')
    .where('principal_id', '=', principalId)
    .where('kind', '=', 'email')
    .where('new_email', '!=', unlessTo)
    .execute()
}

/**
 * Returns who made the link, and what for; undefined if it does not work. Of any number of simultaneous
 * uses, exactly one finds it.
 */
export async function takeLink(
  trx: Trx,
  link: { principalId: number; tokenHash: string; purpose: LinkPurpose; nowMilliseconds: number },
): Promise<Pick<NewLink, 'kind' | 'askedById' | 'newEmail'> | undefined> {
  return trx
    .deleteFrom('one_time_links')
    .where('principal_id', '=', link.principalId)
    .where('token_hash', '=', link.tokenHash)
    .where('kind', 'in', kindsFor[link.purpose])
    .where('expires_at', '>', link.nowMilliseconds)
    .returning(['kind', 'asked_by_id as askedById', 'new_email as newEmail'])
    .executeTakeFirst()
}

export const expiredLinks = removal({
  name: 'removeExpiredLinks',
  table: 'one_time_links',
  key: ['principal_id', 'kind'],
  since: 'expires_at',
  batch: 50,
})
