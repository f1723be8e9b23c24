import { sql } from '#kysely'
import { type Acting, requireStanding } from '../../caller/standing.ts'
import { keptUntilCommit } from '../../db/engine.ts'
import { prepared } from '../../db/prepared.ts'
import type { Db, Trx } from '../../db/tables.ts'
import { Problem } from '../../problems/problems.ts'
import { rolesByPrincipal } from './roles/store.ts'

/** Facts about its account that a bearer request checks, besides the token. */
export interface PrincipalState {
  id: number
  kind: AccountKind
  name: string
  fullName: string | null
  enabled: boolean
  credentialsChangedAt: number
  timeZone: string | null
}

/** `subject` as in a token: the numeric id of a user, the clientId of a service. */
export async function findPrincipalState(db: Db, subject: string): Promise<PrincipalState | undefined> {
  const query = db
    .selectFrom('principals')
    .leftJoin('users', 'users.principal_id', 'principals.id')
    .select([
      'principals.id',
      'kind',
      'name',
      'enabled',
      'credentials_changed_at as credentialsChangedAt',
      'full_name as fullName',
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

/**
 * Whether any account exists. `demo` limits this to accounts that the development seed made (true) or did not
 * make (false).
 */
export async function hasAccounts(db: Db, demo?: boolean): Promise<boolean> {
  const row = await db
    .selectFrom('principals')
    .select('id')
    .$if(demo !== undefined, (query) => query.where('demo', '=', demo ? 1 : 0))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** The facts about users and clients that administrators see. Instants in milliseconds. */
export interface ListedAccount {
  id: number
  roles: string[]
  enabled: boolean
  /** The password or secret is the published one of the development seed. */
  demo: boolean
  createdAt: number
  version: number
}

/** Users and clients each join their details to this query, and `withRoles` completes the rows. */
export function selectAccounts(db: Db, ids: readonly number[]) {
  return db
    .selectFrom('principals')
    .select(['principals.id', 'enabled', 'demo', 'created_at as createdAt', 'version'])
    .where('principals.id', 'in', [0, ...ids])
    .orderBy('principals.id')
}

export async function withRoles<Row extends { id: number; enabled: number; demo: number }>(
  db: Db,
  rows: Row[],
): Promise<(Omit<Row, 'enabled' | 'demo'> & { roles: string[]; enabled: boolean; demo: boolean })[]> {
  const ids = rows.map(({ id }) => id)
  const roles = await rolesByPrincipal(db, ids)
  return rows.map((row) => ({
    ...row,
    roles: roles.get(row.id) ?? [],
    enabled: row.enabled === 1,
    demo: row.demo === 1,
  }))
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
export async function findAccount(db: Db, reference: AccountReference): Promise<Account | undefined> {
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

/** Returns the id. Throws `name-taken` if a user or a client has the name, ignoring case. */
export async function insertPrincipal(
  trx: Trx,
  principal: { kind: AccountKind; name: string; demo: boolean; nowMilliseconds: number },
): Promise<number> {
  const { kind, name, demo, nowMilliseconds } = principal
  const inserted = await trx
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
  if (inserted === undefined) throw new Problem('name-taken')
  const count = `${kind}s` as const
  await trx
    .updateTable('administration')
    .set((eb) => ({ [count]: eb(count, '+', 1) }))
    .execute()
  return inserted.id
}

/** Returns the next version of the account. */
export async function raiseVersion(trx: Trx, principalId: number): Promise<number> {
  const { version } = await trx
    .updateTable('principals')
    .set((eb) => ({ version: eb('version', '+', 1) }))
    .where('id', '=', principalId)
    .returning('version')
    .executeTakeFirstOrThrow()
  return version
}

/** Returns false if the account was already in that state, or is to be enabled and was erased. */
export async function updateEnabled(trx: Trx, principalId: number, enabled: boolean): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('principals')
    .set('enabled', enabled ? 1 : 0)
    .where('id', '=', principalId)
    .where('enabled', '=', enabled ? 0 : 1)
    .$if(enabled, (query) =>
      query.where('id', 'not in', (eb) =>
        eb
          .selectFrom('users')
          .select('principal_id')
          .where('principal_id', '=', principalId)
          .where('erased_at', 'is not', null),
      ),
    )
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/**
 * The name of an account. Until the transaction ends it stays, so an erasure waits for the event that has it;
 * a read that waited for an erasure finds what is left.
 */
export async function keepName(trx: Trx, id: number): Promise<string> {
  const named = trx.selectFrom('principals').select('name').where('id', '=', id)
  return (await named.modifyEnd(keptUntilCommit(trx, 'key')).executeTakeFirstOrThrow()).name
}

/** Clears the demo mark of an account. Returns whether there was one. */
export async function clearDemoMark(trx: Trx, principalId: number): Promise<boolean> {
  const marked = await trx
    .updateTable('principals')
    .set('demo', 0)
    .where('id', '=', principalId)
    .where('demo', '=', 1)
    .executeTakeFirst()
  return marked.numUpdatedRows === 1n
}

/**
 * Locks the account by a write that changes nothing: every other change of the account waits for this one or
 * came first. Returns false if no account has this kind and id, or if its version is not accepted.
 */
export async function lockVersion(
  trx: Trx,
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

/** The credentials of a user as they were when the password or a passkey was checked. */
export interface CheckedCredentials {
  principalId: number
  credentialsChangedAt: number
  /** Null if the account has no password. */
  passwordHash: string | null
}

/**
 * The account, if it is enabled. A write that changes nothing locks it, so a change of its credentials comes
 * either before this transaction, and is seen, or after it. A sign-in is recorded by the same write.
 */
export async function lockAccount(
  trx: Trx,
  principalId: number,
  signedInAt?: number,
): Promise<LockedAccount | undefined> {
  return (await lockEnabled(trx, { principalId, signedInAt: signedInAt ?? null })).rows[0]
}

interface LockedAccount {
  id: number
  name: string
  epoch: number
}

/** Locks the account, and returns its epoch; one that nothing has if it is disabled. */
export async function lockEpoch(trx: Trx, principalId: number): Promise<number> {
  return (await lockAccount(trx, principalId))?.epoch ?? -1
}

/** The account of a person who changes their own. Throws `authentication-required`. */
export async function lockOwn(trx: Trx, stamp: Acting & { byId: number }): Promise<LockedAccount> {
  const account = await lockAccount(trx, stamp.byId)
  await requireStanding(trx, stamp)
  // Disabling an account ends its credentials, so who has a credential has one that is enabled.
  return account as LockedAccount
}

const lockEnabled = prepared((trx, lock: { principalId: number; signedInAt: number | null }) =>
  trx
    .updateTable('principals')
    .set('enabled', 1)
    .set('last_signed_in_at', sql`coalesce(${lock.signedInAt}, last_signed_in_at)`)
    .where('id', '=', lock.principalId)
    .where('enabled', '=', 1)
    .returning(['id', 'name', 'credentials_epoch as epoch']),
)

/**
 * Gives the credentials of the accounts a new date. A token carries the date at its issue, so all access
 * tokens end when instances next read the account. A sign-in that has read the old date creates nothing
 * (`confirmCredentials`).
 */
export async function updateCredentialsDate(
  trx: Trx,
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
 * comes either first, and is seen, or after this transaction, and ends what it made. The same write records
 * a sign-in.
 */
export async function confirmCredentials(
  trx: Trx,
  expected: CheckedCredentials,
  signedInAt: number | null = null,
): Promise<number> {
  const passwordHash = expected.passwordHash ?? ''
  const [locked] = (await lockCredentials(trx, { ...expected, passwordHash, signedInAt })).rows
  if (locked === undefined) throw new Problem('invalid-credentials')
  return locked.credentials_epoch
}

const lockCredentials = prepared((trx, expected: CheckedCredentials & { signedInAt: number | null }) =>
  trx
    .updateTable('principals')
    .set('enabled', 1)
    .set('last_signed_in_at', sql`coalesce(${expected.signedInAt}, last_signed_in_at)`)
    .where('id', '=', expected.principalId)
    .where('enabled', '=', 1)
    .where('credentials_changed_at', '=', expected.credentialsChangedAt)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('users')
          .select('principal_id')
          .where('principal_id', '=', expected.principalId)
          .where(sql`coalesce(password_hash, '')`, '=', expected.passwordHash),
      ),
    )
    .returning('credentials_epoch'),
)

/**
 * Like `updateCredentialsDate`. Also ends every session and token family at once, however many there are, by
 * ending the epoch that they belong to, and with them what was asked for in them. The lock on the account
 * keeps this apart from sign-ins in progress (`confirmCredentials`).
 */
export async function revokeCredentials(
  trx: Trx,
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
  await endRequests(trx, principalIds)
}

/**
 * Voids the links that these accounts asked for, for themselves or for others: nothing outlives what it was
 * asked with.
 */
export async function endRequests(trx: Trx, principalIds: readonly number[]): Promise<void> {
  await trx.deleteFrom('one_time_links').where('asked_by_id', 'in', principalIds).execute()
}

/** Those that the account asked for in this sign-in. */
export async function endRequestsOf(
  trx: Trx,
  { principalId, signInId }: { principalId: number; signInId: string },
): Promise<void> {
  await trx
    .deleteFrom('one_time_links')
    .where('asked_by_id', '=', principalId)
    .where('sign_in_id', '=', signInId)
    .execute()
}

/** Whether the user can sign in with an account of the company; of this issuer, if one is given. */
export async function hasCompanyAccount(db: Db, principalId: number, issuer?: string): Promise<boolean> {
  const [linked] = (await selectIssuer(db, { principalId })).rows
  return linked !== undefined && (issuer ?? linked.issuer) === linked.issuer
}

const selectIssuer = prepared((db, { principalId }: { principalId: number }) =>
  db.selectFrom('company_accounts').select('issuer').where('principal_id', '=', principalId),
)

/** Returns false if none was linked. */
export async function deleteCompanyAccount(trx: Trx, principalId: number): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('company_accounts')
    .where('principal_id', '=', principalId)
    .executeTakeFirst()
  return numDeletedRows === 1n
}

export async function voidLinks(trx: Trx, principalId: number): Promise<void> {
  await trx.deleteFrom('one_time_links').where('principal_id', '=', principalId).execute()
}

export async function voidMailedLinks(trx: Trx, principalId: number): Promise<void> {
  await trx
    .deleteFrom('one_time_links')
    .where('principal_id', '=', principalId)
    .where('kind', '!=', 'shown')
    .execute()
}
