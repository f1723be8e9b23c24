import { type Kysely, sql, type Transaction } from '#kysely'
import { prepared } from '../../db/prepared.ts'
import type { Database } from '../../db/tables.ts'
import { Problem } from '../../http/problems.ts'
import { rolesByPrincipal } from './roles/store.ts'

/** What a bearer request checks about its account, besides the token. */
export interface PrincipalState {
  id: number
  kind: AccountKind
  name: string
  enabled: boolean
  credentialsChangedAt: number
  timeZone: string | null
}

/** `subject` as in a token: the numeric id of a user, the clientId of a service. */
export async function findPrincipalState(
  db: Kysely<Database>,
  subject: string,
): Promise<PrincipalState | undefined> {
  const query = db
    .selectFrom('principals')
    .leftJoin('users', 'users.principal_id', 'principals.id')
    .select([
      'principals.id',
      'kind',
      'name',
      'enabled',
      'credentials_changed_at as credentialsChangedAt',
      'time_zone as timeZone',
    ])
  const numeric = /^[1-9]\d{0,9}$/.test(subject)
  if (numeric && Number(subject) > 2_147_483_647) return undefined
  const row = await (numeric
    ? query.where('principals.id', '=', Number(subject)).where('kind', '=', 'user')
    : query.where('name', '=', subject).where('kind', '=', 'client')
  ).executeTakeFirst()
  return row && { ...row, enabled: row.enabled === 1 }
}

/** Whether there is any account; with `demo`, any that the development seed made, or did not make. */
export async function hasAccounts(db: Kysely<Database>, demo?: boolean): Promise<boolean> {
  const row = await db
    .selectFrom('principals')
    .select('id')
    .$if(demo !== undefined, (query) => query.where('demo', '=', demo ? 1 : 0))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** What administrators see of users and clients alike. Instants in milliseconds. */
export interface ListedAccount {
  id: number
  roles: string[]
  enabled: boolean
  /** The password or secret is the published one of the development seed. */
  demo: boolean
  createdAt: number
  version: number
}

/** Which accounts of a kind to list, in the order of their ids: one, a page, or all. */
export type Which = { id: number } | { offset: number; limit: number } | 'all'

/** A kind joins its details to it, and `withRoles` completes the rows. */
export function selectAccounts(db: Kysely<Database>, which: Which) {
  const all = db
    .selectFrom('principals')
    .select(['principals.id', 'enabled', 'demo', 'created_at as createdAt', 'version'])
    .orderBy('principals.id')
  if (which === 'all') return all
  return 'id' in which
    ? all.where('principals.id', '=', which.id)
    : all.limit(which.limit).offset(which.offset)
}

export async function withRoles<Row extends { id: number; enabled: number; demo: number }>(
  db: Kysely<Database>,
  rows: Row[],
  which: Which,
): Promise<(Omit<Row, 'enabled' | 'demo'> & { roles: string[]; enabled: boolean; demo: boolean })[]> {
  const roles = await rolesByPrincipal(db, which === 'all' ? undefined : rows.map(({ id }) => id))
  return rows.map((row) => ({
    ...row,
    roles: roles.get(row.id) ?? [],
    enabled: row.enabled === 1,
    demo: row.demo === 1,
  }))
}

export async function countAccounts(db: Kysely<Database>, kind: AccountKind): Promise<number> {
  const { count } = await db
    .selectFrom('principals')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('kind', '=', kind)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export type AccountKind = 'user' | 'client'

/** An account by its id, by its user name or clientId, or by its email; names and emails ignore case. */
export type AccountReference<Kind extends AccountKind = AccountKind> = { kind: Kind } & (
  | { id: number }
  | { name: string }
  | { email: string }
)

export interface Account {
  id: number
  name: string
  /** Null for a service. */
  email: string | null
}

/** Undefined if there is no such account. Accounts are never deleted. */
export async function findAccount(
  db: Kysely<Database>,
  reference: AccountReference,
): Promise<Account | undefined> {
  const query = db
    .selectFrom('principals')
    .leftJoin('users', 'users.principal_id', 'principals.id')
    .select(['principals.id', 'name', 'email'])
    .where('kind', '=', reference.kind)
  if ('id' in reference) return query.where('principals.id', '=', reference.id).executeTakeFirst()
  return 'email' in reference
    ? query.where('email', '=', reference.email.toLowerCase()).executeTakeFirst()
    : query.where('name_folded', '=', foldName(reference.name)).executeTakeFirst()
}

/** Names are compared ignoring case. They are ASCII, so the locale does not matter. */
export function foldName(name: string): string {
  return name.toLowerCase()
}

/** Throws `name-taken` if a user or a client has the name, ignoring case. */
export async function insertPrincipal(
  trx: Transaction<Database>,
  principal: { kind: AccountKind; name: string; demo: boolean; nowMilliseconds: number },
): Promise<number> {
  const { kind, name, demo, nowMilliseconds } = principal
  const row = await trx
    .insertInto('principals')
    .values({
      kind,
      name,
      name_folded: foldName(name),
      enabled: 1,
      credentials_changed_at: nowMilliseconds,
      credentials_epoch: 0,
      demo: demo ? 1 : 0,
      created_at: nowMilliseconds,
    })
    .onConflict((conflict) => conflict.column('name_folded').doNothing())
    .returning('id')
    .executeTakeFirst()
  if (row === undefined) throw new Problem('name-taken')
  return row.id
}

/** Returns the next version of the account. */
export async function raiseVersion(trx: Transaction<Database>, principalId: number): Promise<number> {
  const { version } = await trx
    .updateTable('principals')
    .set((eb) => ({ version: eb('version', '+', 1) }))
    .where('id', '=', principalId)
    .returning('version')
    .executeTakeFirstOrThrow()
  return version
}

/** False when the account was in that state already. */
export async function updateEnabled(
  trx: Transaction<Database>,
  principalId: number,
  enabled: boolean,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('principals')
    .set('enabled', enabled ? 1 : 0)
    .where('id', '=', principalId)
    .where('enabled', '=', enabled ? 0 : 1)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Clears the mark of a demo account; true if it was there. */
export async function clearDemoMark(trx: Transaction<Database>, principalId: number): Promise<boolean> {
  const marked = await trx
    .updateTable('principals')
    .set('demo', 0)
    .where('id', '=', principalId)
    .where('demo', '=', 1)
    .executeTakeFirst()
  return marked.numUpdatedRows === 1n
}

/**
 * Locks the account. False if there is none of this kind and id, or if its version is not accepted. A write
 * that changes nothing decides: every other change of the account waits for this one or came first.
 */
export async function lockVersion(
  trx: Transaction<Database>,
  kind: AccountKind,
  id: number,
  acceptedVersions: readonly number[] | null,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('principals')
    .set('kind', kind)
    .where('id', '=', id)
    .where('kind', '=', kind)
    // No version is 0, so an empty list accepts none.
    .$if(acceptedVersions !== null, (query) => query.where('version', 'in', [0, ...(acceptedVersions ?? [])]))
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** The credentials of a user as they were when the password was checked. */
export interface CheckedCredentials {
  principalId: number
  credentialsChangedAt: number
  passwordHash: string
}

/**
 * The account, if it is enabled. A write that changes nothing locks it, so a change of its credentials comes
 * either before this transaction, and is seen, or after it.
 */
export async function lockAccount(
  trx: Transaction<Database>,
  principalId: number,
): Promise<{ id: number; name: string; epoch: number } | undefined> {
  return trx
    .updateTable('principals')
    .set('enabled', 1)
    .where('id', '=', principalId)
    .where('enabled', '=', 1)
    .returning(['id', 'name', 'credentials_epoch as epoch'])
    .executeTakeFirst()
}

/**
 * Gives the credentials of the accounts a new date. A token carries the date at its issue, so all access
 * tokens end when instances next read the account. A sign-in that has read the old date makes nothing
 * (`confirmCredentials`).
 */
export async function updateCredentialsDate(
  trx: Transaction<Database>,
  principalIds: readonly number[],
  nowMilliseconds: number,
): Promise<void> {
  await trx
    .updateTable('principals')
    .set({ credentials_changed_at: laterInstant(nowMilliseconds) })
    .where('id', 'in', principalIds)
    .execute()
}

/** A date that no credential carries yet, even if the clock was set back. */
function laterInstant(nowMilliseconds: number) {
  return sql<number>`case when credentials_changed_at < ${nowMilliseconds}
    then ${nowMilliseconds} else credentials_changed_at + 1 end`
}

/**
 * Returns the epoch of the account. Throws `invalid-credentials` unless the user is still enabled and has the
 * credentials that were checked. A write that changes nothing locks the account: disabling or a new password
 * comes either first, and is seen, or after this transaction, and ends what it made.
 */
export async function confirmCredentials(
  trx: Transaction<Database>,
  expected: CheckedCredentials,
): Promise<number> {
  const [locked] = (await lockCredentials(trx, expected)).rows
  if (locked === undefined) throw new Problem('invalid-credentials')
  return locked.credentials_epoch
}

const lockCredentials = prepared((trx, expected: CheckedCredentials) =>
  trx
    .updateTable('principals')
    .set('enabled', 1)
    .where('id', '=', expected.principalId)
    .where('enabled', '=', 1)
    .where('credentials_changed_at', '=', expected.credentialsChangedAt)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('users')
          .select('principal_id')
          .where('principal_id', '=', expected.principalId)
          .where('password_hash', '=', expected.passwordHash),
      ),
    )
    .returning('credentials_epoch'),
)

/**
 * As `updateCredentialsDate`, and ends every session and token family at once, however many there are, by
 * ending the epoch that they belong to. The lock of the account keeps this apart from sign-ins under way
 * (`confirmCredentials`).
 */
export async function revokeCredentials(
  trx: Transaction<Database>,
  principalIds: readonly number[],
  nowMilliseconds: number,
): Promise<void> {
  await trx
    .updateTable('principals')
    .set((eb) => ({
      credentials_changed_at: laterInstant(nowMilliseconds),
      credentials_epoch: eb('credentials_epoch', '+', 1),
    }))
    .where('id', 'in', principalIds)
    .execute()
}

/** Any one-time link of the user stops working. */
export async function voidLink(trx: Transaction<Database>, principalId: number): Promise<void> {
  await trx.deleteFrom('one_time_links').where('principal_id', '=', principalId).execute()
}
