import type { Kysely, Transaction } from 'kysely'
import type { Database } from '../../db/tables.ts'
import type { Permission } from '../permissions.ts'
import {
  countHolders,
  deletePermissions,
  deleteRole,
  deleteRoles,
  insertPermissions,
  insertRole,
  insertRoles,
  roleNames,
  rolesOf,
} from '../roles/store.ts'
import { takeRolesFromSessions } from '../session/store.ts'
import {
  type Account,
  type AccountReference,
  clearDemoMark,
  deleteOldSecrets,
  deletePrincipal,
  endCredentialsEpoch,
  findAccount,
  insertPrincipal,
  insertSecret,
  insertUser,
  nextUserIds,
  type UserReference,
  updateCredentialsDate,
  updateEnabled,
  updatePassword,
} from './store.ts'

/**
 * What the administration command may do to accounts. A write operation returns `{refused, ...}` when a rule forbids
 * it, and has then changed nothing. The inserts decide what is unique and conditional updates decide about states, so
 * two simultaneous commands cannot both win.
 */
export type Refusal =
  | { refused: 'name-taken' | 'email-taken' | 'no-such-user' | 'no-such-client' }
  | { refused: 'unknown-role'; unknown: string[]; known: string[] }
  | { refused: 'role-taken' }
  | { refused: 'role-held'; accounts: number }

type Trx = Transaction<Database>

export interface AddUserInput {
  userName: string
  /** As `normalizeEmail` gives it. */
  email: string
  passwordHash: string
  timeZone: string | null
  roles: string[]
  /** Marks an account whose password or secret is public. */
  demo?: boolean
  nowMilliseconds: number
}

export async function addUser(trx: Trx, input: AddUserInput): Promise<{ id: number } | Refusal> {
  const unknown = await refuseUnknownRoles(trx, input.roles)
  if (unknown !== undefined) return unknown
  const id = await insertPrincipal(trx, { ...input, kind: 'user', name: input.userName })
  if (id === undefined) return { refused: 'name-taken' }
  if (!(await insertUser(trx, id, input))) {
    await deletePrincipal(trx, id)
    return { refused: 'email-taken' }
  }
  await insertRoles(trx, id, input.roles)
  return { id }
}

export interface AddClientInput {
  clientId: string
  secretHash: string
  roles: string[]
  demo?: boolean
  nowMilliseconds: number
}

export async function addClient(trx: Trx, input: AddClientInput): Promise<{ id: number } | Refusal> {
  const unknown = await refuseUnknownRoles(trx, input.roles)
  if (unknown !== undefined) return unknown
  const id = await insertPrincipal(trx, { ...input, kind: 'client', name: input.clientId })
  if (id === undefined) return { refused: 'name-taken' }
  await insertSecret(trx, id, input.secretHash, input.nowMilliseconds)
  await insertRoles(trx, id, input.roles)
  return { id }
}

/** Replaces the password, clears the mark of the demo accounts and ends every credential of the user. */
export async function setPassword(
  trx: Trx,
  input: { account: UserReference; passwordHash: string; nowMilliseconds: number },
): Promise<{ name: string } | Refusal> {
  const account = await accountOf(trx, input.account)
  if ('refused' in account) return account
  await revokeCredentials(trx, [account.id], input.nowMilliseconds)
  await clearDemoMark(trx, account.id)
  await updatePassword(trx, account.id, input.passwordHash)
  return { name: account.name }
}

/** `changed` is false when the account was in that state already. Disabling ends every credential. */
export async function setAccountEnabled(
  trx: Trx,
  input: { account: AccountReference; enabled: boolean; nowMilliseconds: number },
): Promise<{ name: string; changed: boolean } | Refusal> {
  const account = await accountOf(trx, input.account)
  if ('refused' in account) return account
  const changed = await updateEnabled(trx, account.id, input.enabled)
  if (changed && !input.enabled) await revokeCredentials(trx, [account.id], input.nowMilliseconds)
  return { name: account.name, changed }
}

/** Ends every credential of the user, who may sign in again. */
export async function signOutUser(
  trx: Trx,
  input: { account: UserReference; nowMilliseconds: number },
): Promise<{ name: string } | Refusal> {
  const account = await accountOf(trx, input.account)
  if ('refused' in account) return account
  await revokeCredentials(trx, [account.id], input.nowMilliseconds)
  return { name: account.name }
}

/**
 * Ends every credential of the next `limit` users after the number `afterId`; `lastId` is undefined when there are no
 * more. In portions, so that no transaction runs long, however many users there are.
 */
export async function signOutUsers(
  trx: Trx,
  input: { afterId: number; limit: number; nowMilliseconds: number },
): Promise<{ users: number; lastId: number | undefined }> {
  const ids = await nextUserIds(trx, input)
  if (ids.length > 0) await revokeCredentials(trx, ids, input.nowMilliseconds)
  return { users: ids.length, lastId: ids.at(-1) }
}

export interface ChangeRolesInput {
  account: AccountReference
  roles: string[]
  nowMilliseconds: number
}

type ChangedRoles = { name: string; changed: string[]; roles: string[] }

/** `changed` names the roles that the account did not have; they show at the next refresh or sign-in. */
export function grantRoles(trx: Trx, input: ChangeRolesInput): Promise<ChangedRoles | Refusal> {
  return changeRoles(trx, input, (id) => insertRoles(trx, id, input.roles))
}

/**
 * `changed` names the roles that the account had. Sessions lose them at once and go on with what is left, as token
 * families do, whose roles are read at each refresh. Access tokens that hold them end when instances next look at the
 * account.
 */
export function revokeRoles(trx: Trx, input: ChangeRolesInput): Promise<ChangedRoles | Refusal> {
  return changeRoles(trx, input, async (id) => {
    const changed = await deleteRoles(trx, id, input.roles)
    if (changed.length === 0) return changed
    // Locks the account: a refresh that read the roles before is done, and a later one sees what is left of them.
    await updateCredentialsDate(trx, [id], input.nowMilliseconds)
    await takeRolesFromSessions(trx, id, changed)
    return changed
  })
}

async function changeRoles(
  trx: Trx,
  input: ChangeRolesInput,
  change: (principalId: number) => Promise<string[]>,
): Promise<ChangedRoles | Refusal> {
  const account = await accountOf(trx, input.account)
  if ('refused' in account) return account
  const unknown = await refuseUnknownRoles(trx, input.roles)
  if (unknown !== undefined) return unknown
  return { name: account.name, changed: await change(account.id), roles: await rolesOf(trx, account.id) }
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
  trx: Trx,
  input: RotateClientSecretInput,
): Promise<{ name: string; dropped: number } | Refusal> {
  const account = await accountOf(trx, { kind: 'client', name: input.clientId })
  if ('refused' in account) return account
  const wasDemo = await clearDemoMark(trx, account.id)
  await insertSecret(trx, account.id, input.secretHash, input.nowMilliseconds)
  const kept = input.dropOld || wasDemo ? 1 : 2
  return { name: account.name, dropped: await dropSecrets(trx, account.id, kept, input.nowMilliseconds) }
}

/** Ends a rotation: only the newest secret stays. */
export async function dropOldClientSecrets(
  trx: Trx,
  input: { clientId: string; nowMilliseconds: number },
): Promise<{ name: string; dropped: number } | Refusal> {
  const account = await accountOf(trx, { kind: 'client', name: input.clientId })
  if ('refused' in account) return account
  return { name: account.name, dropped: await dropSecrets(trx, account.id, 1, input.nowMilliseconds) }
}

async function dropSecrets(trx: Trx, principalId: number, kept: number, now: number): Promise<number> {
  const dropped = await deleteOldSecrets(trx, principalId, kept)
  if (dropped > 0) await revokeCredentials(trx, [principalId], now)
  return dropped
}

export interface ChangePermissionsInput {
  role: string
  permissions: Permission[]
}

/** No two roles differ in case alone. */
export async function addRole(
  trx: Trx,
  { role, permissions }: ChangePermissionsInput,
): Promise<{ role: string } | Refusal> {
  const isTaken = (await roleNames(trx)).some((name) => name.toLowerCase() === role.toLowerCase())
  if (isTaken || !(await insertRole(trx, role))) return { refused: 'role-taken' }
  if (permissions.length > 0) await insertPermissions(trx, role, permissions)
  return { role }
}

/** Only one that no account has: to take it from them is a decision about each. */
export async function removeRole(trx: Trx, { role }: { role: string }): Promise<{ role: string } | Refusal> {
  const unknown = await refuseUnknownRoles(trx, [role])
  if (unknown !== undefined) return unknown
  const accounts = await countHolders(trx, role)
  if (accounts > 0) return { refused: 'role-held', accounts }
  await deleteRole(trx, role)
  return { role }
}

/** `changed` names what the role did not hold. Takes effect within PERMISSION_CACHE_TTL_SECONDS everywhere. */
export async function allowPermissions(
  trx: Trx,
  { role, permissions }: ChangePermissionsInput,
): Promise<{ changed: string[] } | Refusal> {
  const unknown = await refuseUnknownRoles(trx, [role])
  return unknown ?? { changed: await insertPermissions(trx, role, permissions) }
}

/** `changed` names what the role held. Takes effect within PERMISSION_CACHE_TTL_SECONDS; no credential ends for it. */
export async function denyPermissions(
  trx: Trx,
  { role, permissions }: ChangePermissionsInput,
): Promise<{ changed: string[] } | Refusal> {
  const unknown = await refuseUnknownRoles(trx, [role])
  return unknown ?? { changed: await deletePermissions(trx, role, permissions) }
}

/** The account, or the refusal that says there is none. */
export async function accountOf(
  db: Kysely<Database>,
  reference: AccountReference,
): Promise<Account | Refusal> {
  const account = await findAccount(db, reference)
  return account ?? { refused: reference.kind === 'user' ? 'no-such-user' : 'no-such-client' }
}

/**
 * Ends sessions and refresh families at once; access tokens end when instances next look at the account. The principal
 * is updated first: its lock keeps this apart from logins under way (`confirmCredentials`).
 */
async function revokeCredentials(trx: Trx, principalIds: number[], now: number): Promise<void> {
  await updateCredentialsDate(trx, principalIds, now)
  await endCredentialsEpoch(trx, principalIds)
}

/** A role that is removed meanwhile is refused by the foreign key. */
async function refuseUnknownRoles(trx: Trx, roles: string[]): Promise<Refusal | undefined> {
  const known = await roleNames(trx)
  const unknown = roles.filter((role) => !known.includes(role))
  return unknown.length > 0 ? { refused: 'unknown-role', unknown, known } : undefined
}
