import type { Kysely, NotNull, Transaction } from '#kysely'
import type { Database } from '../../db/tables.ts'
import type { CheckedCredentials } from '../credentials/store.ts'

/** A user with what a login checks. */
export interface UserCredentials extends CheckedCredentials {
  userName: string
  email: string
  enabled: boolean
}

/** `email` in lower case, as it is stored. A user who has not set a password yet is not found. */
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

export interface ClientCredentials {
  principalId: number
  clientId: string
  enabled: boolean
  credentialsChangedAt: number
  secretHashes: string[]
  /** From then on it gets no token. */
  endsAt: number | null
  lastUsedAt: number | null
}

/** `clientId` exactly as registered. */
export async function findClient(
  db: Kysely<Database>,
  clientId: string,
): Promise<ClientCredentials | undefined> {
  const rows = await db
    .selectFrom('principals')
    .innerJoin('client_secrets', 'client_secrets.principal_id', 'principals.id')
    .innerJoin('clients', 'clients.principal_id', 'principals.id')
    .leftJoin('client_uses', 'client_uses.principal_id', 'principals.id')
    .select([
      'principals.id as principalId',
      'name as clientId',
      'enabled',
      'credentials_changed_at as credentialsChangedAt',
      'secret_hash',
      'ends_at as endsAt',
      'last_used_at as lastUsedAt',
    ])
    .where('kind', '=', 'client')
    .where('name', '=', clientId)
    .execute()
  const [client] = rows
  if (client === undefined) return undefined
  return { ...client, enabled: client.enabled === 1, secretHashes: rows.map((row) => row.secret_hash) }
}

/** What a bearer request checks of its principal besides the token. */
export interface PrincipalState {
  id: number
  kind: 'user' | 'client'
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

/** Whether there is any account; with `demo`, one that the development seed made, or one that it did not. */
export async function hasAccounts(db: Kysely<Database>, demo?: boolean): Promise<boolean> {
  const row = await db
    .selectFrom('principals')
    .select('id')
    .$if(demo !== undefined, (query) => query.where('demo', '=', demo ? 1 : 0))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** A user is named by user name (any case), email or number, a service by its clientId (any case). */
export type AccountReference = UserReference | { kind: 'client'; name: string }
export type UserReference =
  | { kind: 'user'; email: string }
  | { kind: 'user'; name: string }
  | { kind: 'user'; id: number }

export interface Account {
  id: number
  name: string
  /** Null for a service. */
  email: string | null
}

/** Undefined when there is no such account. Accounts are never deleted. */
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

/** Names are compared without case; they are ASCII, so no locale has a say. */
export function foldName(name: string): string {
  return name.toLowerCase()
}

/** Undefined when a user or a service has the name, in any case. */
export async function insertPrincipal(
  trx: Transaction<Database>,
  principal: { kind: 'user' | 'client'; name: string; demo?: boolean; nowMilliseconds: number },
): Promise<number | undefined> {
  const { kind, name, demo = false, nowMilliseconds } = principal
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
  return row?.id
}

/** False when another user has the email. */
export async function insertUser(
  trx: Transaction<Database>,
  principalId: number,
  user: { email: string; passwordHash: string | null; timeZone: string | null },
): Promise<boolean> {
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
  return numInsertedOrUpdatedRows === 1n
}

/** For a principal that nobody else has seen yet, and that nothing refers to. */
export async function deletePrincipal(trx: Transaction<Database>, principalId: number): Promise<void> {
  await trx.deleteFrom('principals').where('id', '=', principalId).execute()
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

/** Clears the mark of the demo accounts; true if it was there. */
export async function clearDemoMark(trx: Transaction<Database>, principalId: number): Promise<boolean> {
  const marked = await trx
    .updateTable('principals')
    .set('demo', 0)
    .where('id', '=', principalId)
    .where('demo', '=', 1)
    .executeTakeFirst()
  return marked.numUpdatedRows === 1n
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

export async function insertSecret(
  trx: Transaction<Database>,
  principalId: number,
  secretHash: string,
  nowMilliseconds: number,
): Promise<void> {
  await trx
    .insertInto('client_secrets')
    .values({ principal_id: principalId, secret_hash: secretHash, created_at: nowMilliseconds })
    .execute()
}

/** Leaves the `kept` newest secrets and returns how many went. */
export async function deleteOldSecrets(
  trx: Transaction<Database>,
  principalId: number,
  kept: number,
): Promise<number> {
  const { numDeletedRows } = await trx
    .deleteFrom('client_secrets')
    .where('principal_id', '=', principalId)
    .where('id', 'not in', (eb) =>
      eb
        .selectFrom('client_secrets as newest')
        .select('newest.id')
        .where('newest.principal_id', '=', principalId)
        .orderBy('newest.id', 'desc')
        .limit(kept),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}
