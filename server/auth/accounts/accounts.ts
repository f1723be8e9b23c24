import { type Kysely, sql, type Transaction } from 'kysely'
import type { Database } from '../../db/tables.ts'
import type { Permission } from '../permissions.ts'
import { rolesOf } from './store.ts'

/**
 * What the administration command may do to accounts. Every write operation answers `{refused, ...}` instead of
 * throwing when a rule stands against it, and has then changed nothing. Uniqueness is decided by the inserts
 * themselves and state by conditional updates, so that simultaneous commands cannot both win.
 */
export type Refusal =
  | { refused: 'name-taken' | 'email-taken' | 'no-such-user' | 'no-such-client' }
  | { refused: 'unknown-role'; unknown: string[]; known: string[] }

/** A user is named by user name (any case) or email, a service by its clientId (any case). */
export type AccountReference = UserReference | { kind: 'client'; name: string }
export type UserReference = { kind: 'user'; email: string } | { kind: 'user'; name: string }

/** Names are compared without case; they are ASCII, so no locale has a say. */
function foldName(name: string): string {
  return name.toLowerCase()
}

export interface AddUserInput {
  userName: string
  /** As `normalizeEmail` gives it. */
  email: string
  passwordHash: string
  timeZone: string | null
  roles: string[]
  nowMilliseconds: number
}

export async function addUser(
  trx: Transaction<Database>,
  input: AddUserInput,
): Promise<{ id: number } | Refusal> {
  const unknown = await refuseUnknownRoles(trx, input.roles)
  if (unknown !== undefined) return unknown
  const id = await insertPrincipal(trx, 'user', input.userName, input.nowMilliseconds)
  if (id === undefined) return { refused: 'name-taken' }
  const user = await trx
    .insertInto('users')
    .values({
      principal_id: id,
      email: input.email,
      password_hash: input.passwordHash,
      time_zone: input.timeZone,
    })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .executeTakeFirstOrThrow()
  if (user.numInsertedOrUpdatedRows !== 1n) {
    // Nobody else has seen the principal, and nothing refers to it yet.
    await trx.deleteFrom('principals').where('id', '=', id).execute()
    return { refused: 'email-taken' }
  }
  await insertRoles(trx, id, input.roles)
  return { id }
}

export interface AddClientInput {
  clientId: string
  secretHash: string
  roles: string[]
  nowMilliseconds: number
}

export async function addClient(
  trx: Transaction<Database>,
  input: AddClientInput,
): Promise<{ id: number } | Refusal> {
  const unknown = await refuseUnknownRoles(trx, input.roles)
  if (unknown !== undefined) return unknown
  const id = await insertPrincipal(trx, 'client', input.clientId, input.nowMilliseconds)
  if (id === undefined) return { refused: 'name-taken' }
  await insertSecret(trx, id, input.secretHash, input.nowMilliseconds)
  await insertRoles(trx, id, input.roles)
  return { id }
}

/** Replaces the password, clears the mark of the demo accounts and ends every credential of the user. */
export async function setPassword(
  trx: Transaction<Database>,
  input: { account: UserReference; passwordHash: string; nowMilliseconds: number },
): Promise<{ name: string } | Refusal> {
  const account = await findAccount(trx, input.account)
  if (account === undefined) return noSuchAccount(input.account)
  await revokeCredentials(trx, [account.id], input.nowMilliseconds)
  await trx.updateTable('principals').set('demo', 0).where('id', '=', account.id).execute()
  await trx
    .updateTable('users')
    .set('password_hash', input.passwordHash)
    .where('principal_id', '=', account.id)
    .execute()
  return { name: account.name }
}

/** `changed` is false when the account was in that state already. Disabling ends every credential. */
export async function setAccountEnabled(
  trx: Transaction<Database>,
  input: { account: AccountReference; enabled: boolean; nowMilliseconds: number },
): Promise<{ name: string; changed: boolean } | Refusal> {
  const account = await findAccount(trx, input.account)
  if (account === undefined) return noSuchAccount(input.account)
  const updated = await trx
    .updateTable('principals')
    .set('enabled', input.enabled ? 1 : 0)
    .where('id', '=', account.id)
    .where('enabled', '=', input.enabled ? 0 : 1)
    .executeTakeFirst()
  const changed = updated.numUpdatedRows === 1n
  if (changed && !input.enabled) await revokeCredentials(trx, [account.id], input.nowMilliseconds)
  return { name: account.name, changed }
}

/** Ends every credential of the user, who may sign in again. */
export async function signOutUser(
  trx: Transaction<Database>,
  input: { account: UserReference; nowMilliseconds: number },
): Promise<{ name: string } | Refusal> {
  const account = await findAccount(trx, input.account)
  if (account === undefined) return noSuchAccount(input.account)
  await revokeCredentials(trx, [account.id], input.nowMilliseconds)
  return { name: account.name }
}

/**
 * Ends every credential of the next `limit` users after the number `afterId`; `lastId` is undefined when there are no
 * more. In portions, so that no transaction runs long, however many users there are.
 */
export async function signOutUsers(
  trx: Transaction<Database>,
  input: { afterId: number; limit: number; nowMilliseconds: number },
): Promise<{ users: number; lastId: number | undefined }> {
  const rows = await trx
    .selectFrom('principals')
    .select('id')
    .where('kind', '=', 'user')
    .where('id', '>', input.afterId)
    .orderBy('id')
    .limit(input.limit)
    .execute()
  const ids = rows.map(({ id }) => id)
  if (ids.length > 0) await revokeCredentials(trx, ids, input.nowMilliseconds)
  return { users: ids.length, lastId: ids.at(-1) }
}

export interface ChangeRolesInput {
  account: AccountReference
  roles: string[]
  nowMilliseconds: number
}

/** `changed` names the roles that the account did not have; they show at the next refresh or sign-in. */
export async function grantRoles(
  trx: Transaction<Database>,
  input: ChangeRolesInput,
): Promise<{ name: string; changed: string[]; roles: string[] } | Refusal> {
  const account = await findAccount(trx, input.account)
  if (account === undefined) return noSuchAccount(input.account)
  const unknown = await refuseUnknownRoles(trx, input.roles)
  if (unknown !== undefined) return unknown
  const changed = await insertRoles(trx, account.id, input.roles)
  return { name: account.name, changed, roles: await rolesOf(trx, account.id) }
}

/** `changed` names the roles that the account had. If there are any, every credential of the account ends. */
export async function revokeRoles(
  trx: Transaction<Database>,
  input: ChangeRolesInput,
): Promise<{ name: string; changed: string[]; roles: string[] } | Refusal> {
  const account = await findAccount(trx, input.account)
  if (account === undefined) return noSuchAccount(input.account)
  const unknown = await refuseUnknownRoles(trx, input.roles)
  if (unknown !== undefined) return unknown
  const removed = await trx
    .deleteFrom('principal_roles')
    .where('principal_id', '=', account.id)
    .where('role', 'in', input.roles)
    .returning('role')
    .execute()
  if (removed.length > 0) await revokeCredentials(trx, [account.id], input.nowMilliseconds)
  const changed = removed.map((row) => row.role).sort()
  return { name: account.name, changed, roles: await rolesOf(trx, account.id) }
}

export interface RotateClientSecretInput {
  clientId: string
  secretHash: string
  /** Ends every earlier secret at once, and the tokens that they bought. */
  dropOld: boolean
  nowMilliseconds: number
}

/**
 * Adds a secret beside the newest one: at most two are active, an older one is dropped. A demo client's published
 * secret never stays. Whenever a secret is dropped, the access tokens issued so far end too.
 */
export async function rotateClientSecret(
  trx: Transaction<Database>,
  input: RotateClientSecretInput,
): Promise<{ name: string; dropped: number } | Refusal> {
  const reference = { kind: 'client', name: input.clientId } as const
  const account = await findAccount(trx, reference)
  if (account === undefined) return noSuchAccount(reference)
  const wasDemo = await trx
    .updateTable('principals')
    .set('demo', 0)
    .where('id', '=', account.id)
    .where('demo', '=', 1)
    .executeTakeFirst()
  // Changes nothing: its lock makes simultaneous rotations wait, so that three secrets are never left.
  await trx.updateTable('principals').set('demo', 0).where('id', '=', account.id).execute()
  await insertSecret(trx, account.id, input.secretHash, input.nowMilliseconds)
  const kept = input.dropOld || wasDemo.numUpdatedRows === 1n ? 1 : 2
  const dropped = await dropSecrets(trx, account.id, kept, input.nowMilliseconds)
  return { name: account.name, dropped }
}

/** Ends a rotation: only the newest secret stays. */
export async function dropOldClientSecrets(
  trx: Transaction<Database>,
  input: { clientId: string; nowMilliseconds: number },
): Promise<{ name: string; dropped: number } | Refusal> {
  const reference = { kind: 'client', name: input.clientId } as const
  const account = await findAccount(trx, reference)
  if (account === undefined) return noSuchAccount(reference)
  return { name: account.name, dropped: await dropSecrets(trx, account.id, 1, input.nowMilliseconds) }
}

export interface ChangePermissionsInput {
  role: string
  permissions: Permission[]
}

/** `changed` names what the role did not hold. Takes effect within PERMISSION_CACHE_TTL_SECONDS everywhere. */
export async function allowPermissions(
  trx: Transaction<Database>,
  input: ChangePermissionsInput,
): Promise<{ changed: string[] } | Refusal> {
  const unknown = await refuseUnknownRoles(trx, [input.role])
  if (unknown !== undefined) return unknown
  const inserted = await trx
    .insertInto('role_permissions')
    .values(input.permissions.map((permission) => ({ role: input.role, permission })))
    .onConflict((conflict) => conflict.columns(['role', 'permission']).doNothing())
    .returning('permission')
    .execute()
  return { changed: inserted.map((row) => row.permission).sort() }
}

/** `changed` names what the role held. Takes effect within PERMISSION_CACHE_TTL_SECONDS; no credential ends for it. */
export async function denyPermissions(
  trx: Transaction<Database>,
  input: ChangePermissionsInput,
): Promise<{ changed: string[] } | Refusal> {
  const unknown = await refuseUnknownRoles(trx, [input.role])
  if (unknown !== undefined) return unknown
  const deleted = await trx
    .deleteFrom('role_permissions')
    .where('role', '=', input.role)
    .where('permission', 'in', input.permissions)
    .returning('permission')
    .execute()
  return { changed: deleted.map((row) => row.permission).sort() }
}

/** Undefined when there is no such account. Accounts are never deleted or renamed, so the answer does not age. */
export async function findAccount(
  db: Kysely<Database>,
  reference: AccountReference,
): Promise<{ id: number; name: string; email: string | null } | undefined> {
  const query = db
    .selectFrom('principals')
    .leftJoin('users', 'users.principal_id', 'principals.id')
    .select(['principals.id', 'name', 'email'])
    .where('kind', '=', reference.kind)
  return 'email' in reference
    ? query.where('email', '=', reference.email.toLowerCase()).executeTakeFirst()
    : query.where('name_folded', '=', foldName(reference.name)).executeTakeFirst()
}

export function noSuchAccount(reference: AccountReference): Refusal {
  return { refused: reference.kind === 'user' ? 'no-such-user' : 'no-such-client' }
}

/**
 * Ends sessions and refresh families at once; access tokens end when instances next look at the account. The new
 * instant differs from the old one, so that a login which read that makes nothing (see `confirmCredentials`), and it
 * is later than the `iat` of every token so far: those are whole seconds, at least the old instant rounded up. The
 * update of the principal comes first: its lock orders this against such logins.
 */
async function revokeCredentials(
  trx: Transaction<Database>,
  principalIds: number[],
  nowMilliseconds: number,
): Promise<void> {
  const moment = nowMilliseconds % 1000 === 0 ? nowMilliseconds + 1 : nowMilliseconds
  const latestIssue = sql<number>`(credentials_changed_at + 999) / 1000 * 1000`
  await trx
    .updateTable('principals')
    .set({
      credentials_changed_at: sql<number>`case when ${latestIssue} >= ${moment}
        then ${latestIssue} + 1 else ${moment} end`,
    })
    .where('id', 'in', principalIds)
    .execute()
  await trx.deleteFrom('sessions').where('principal_id', 'in', principalIds).execute()
  await trx
    .updateTable('refresh_families')
    .set('revoked_at', nowMilliseconds)
    .where('principal_id', 'in', principalIds)
    .where('revoked_at', 'is', null)
    .execute()
}

/** Undefined when a user or a service has the name, in any case. */
async function insertPrincipal(
  trx: Transaction<Database>,
  kind: 'user' | 'client',
  name: string,
  nowMilliseconds: number,
): Promise<number | undefined> {
  const row = await trx
    .insertInto('principals')
    .values({
      kind,
      name,
      name_folded: foldName(name),
      enabled: 1,
      credentials_changed_at: nowMilliseconds,
      demo: 0,
      created_at: nowMilliseconds,
    })
    .onConflict((conflict) => conflict.column('name_folded').doNothing())
    .returning('id')
    .executeTakeFirst()
  return row?.id
}

/** Returns the roles that are new, sorted. */
async function insertRoles(
  trx: Transaction<Database>,
  principalId: number,
  roles: string[],
): Promise<string[]> {
  if (roles.length === 0) return []
  const inserted = await trx
    .insertInto('principal_roles')
    .values([...new Set(roles)].map((role) => ({ principal_id: principalId, role })))
    .onConflict((conflict) => conflict.columns(['principal_id', 'role']).doNothing())
    .returning('role')
    .execute()
  return inserted.map((row) => row.role).sort()
}

async function insertSecret(
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
async function dropSecrets(
  trx: Transaction<Database>,
  principalId: number,
  kept: number,
  nowMilliseconds: number,
): Promise<number> {
  const deleted = await trx
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
  if (deleted.numDeletedRows > 0n) await revokeCredentials(trx, [principalId], nowMilliseconds)
  return Number(deleted.numDeletedRows)
}

/** Roles come from migrations only, so that reading them first decides nothing that could change. */
async function refuseUnknownRoles(trx: Transaction<Database>, roles: string[]): Promise<Refusal | undefined> {
  const rows = await trx.selectFrom('roles').select('name').orderBy('name').execute()
  const known = rows.map((row) => row.name)
  const unknown = roles.filter((role) => !known.includes(role))
  return unknown.length > 0 ? { refused: 'unknown-role', unknown, known } : undefined
}
