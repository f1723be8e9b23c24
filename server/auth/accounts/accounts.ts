import type { Kysely, Transaction } from '#kysely'
import type { EventKind, Stamp } from '../../audit/event.ts'
import { recordEvent } from '../../audit/events.ts'
import type { Database } from '../../db/tables.ts'
import { keepAdministrator } from '../administration/administrators.ts'
import { insertClient } from '../administration/clients/store.ts'
import { lockAdministration } from '../administration/store.ts'
import { revokeCredentials, updateCredentialsDate } from '../credentials/store.ts'
import { voidLink } from '../links/store.ts'
import { refuseUnknownRoles } from '../roles/roles.ts'
import { deleteRoles, insertRoles, rolesOf } from '../roles/store.ts'
import { takeRolesFromSessions } from '../session/store.ts'
import type { Refusal } from './refusal.ts'
import {
  type Account,
  type AccountReference,
  clearDemoMark,
  deleteOldSecrets,
  deletePrincipal,
  findAccount,
  insertPrincipal,
  insertSecret,
  insertUser,
  nextUserIds,
  raiseVersion,
  type UserReference,
  updateEnabled,
  updatePassword,
} from './store.ts'

/** What administration may do to accounts: by the command line, and by HTTP. */
type Trx = Transaction<Database>

export interface AddUserInput {
  userName: string
  /** As `normalizeEmail` gives it. */
  email: string
  /** Null for a user who will set a password by a link. */
  passwordHash: string | null
  timeZone: string | null
  roles: string[]
  /** Marks an account whose password or secret is public. */
  demo?: boolean
  stamp: Stamp
}

export async function addUser(trx: Trx, input: AddUserInput): Promise<{ id: number } | Refusal> {
  await lockAdministration(trx, input.stamp)
  const unknown = await refuseUnknownRoles(trx, input.roles)
  if (unknown !== undefined) return unknown
  const { userName: name, roles, stamp } = input
  const { nowMilliseconds } = stamp
  const id = await insertPrincipal(trx, { ...input, kind: 'user', name, nowMilliseconds })
  if (id === undefined) return { refused: 'name-taken' }
  if (!(await insertUser(trx, id, input))) {
    await deletePrincipal(trx, id)
    return { refused: 'email-taken' }
  }
  await insertRoles(trx, id, roles)
  await recordAccount(trx, stamp, 'user-added', { id, name }, { roles })
  return { id }
}

export interface AddClientInput {
  clientId: string
  /** What people call it. */
  name?: string | null
  /** From then on it gets no token. */
  endsAt?: number | null
  secretHash: string
  roles: string[]
  demo?: boolean
  stamp: Stamp
}

export async function addClient(trx: Trx, input: AddClientInput): Promise<{ id: number } | Refusal> {
  await lockAdministration(trx, input.stamp)
  const unknown = await refuseUnknownRoles(trx, input.roles)
  if (unknown !== undefined) return unknown
  const { clientId: name, secretHash, roles, stamp } = input
  const { nowMilliseconds } = stamp
  const id = await insertPrincipal(trx, { ...input, kind: 'client', name, nowMilliseconds })
  if (id === undefined) return { refused: 'name-taken' }
  await insertClient(trx, id, { name: input.name ?? null, endsAt: input.endsAt ?? null })
  await insertSecret(trx, id, secretHash, nowMilliseconds)
  await insertRoles(trx, id, roles)
  await recordAccount(trx, stamp, 'client-added', { id, name }, { roles })
  return { id }
}

/** Replaces the password, clears the mark of the demo accounts and ends every credential of the user, links included. */
export async function setPassword(
  trx: Trx,
  input: { account: UserReference; passwordHash: string; stamp: Stamp },
): Promise<{ name: string } | Refusal> {
  const account = await accountOf(trx, input.account)
  if ('refused' in account) return account
  await givePassword(trx, account.id, input.passwordHash, input.stamp.nowMilliseconds)
  await recordChange(trx, input.stamp, 'password-set', account)
  return { name: account.name }
}

/** Replaces the password, with all that goes with it. */
export async function givePassword(
  trx: Trx,
  principalId: number,
  passwordHash: string,
  nowMilliseconds: number,
): Promise<void> {
  await revokeCredentials(trx, [principalId], nowMilliseconds)
  await voidLink(trx, principalId)
  await clearDemoMark(trx, principalId)
  await updatePassword(trx, principalId, passwordHash)
}

/** `changed` is false when the account was in that state already. Throws `last-administrator`. */
export function setAccountEnabled(
  trx: Trx,
  { enabled, stamp, ...input }: { account: AccountReference; enabled: boolean; stamp: Stamp },
): Promise<{ name: string; changed: boolean } | Refusal> {
  return keepAdministrator(trx, stamp, async () => {
    const account = await accountOf(trx, input.account)
    if ('refused' in account) return account
    const changed = await switchAccount(trx, account.id, enabled, stamp.nowMilliseconds)
    if (changed) await recordChange(trx, stamp, enabled ? 'enabled' : 'disabled', account)
    return { name: account.name, changed }
  })
}

/** False when the account was in that state already. Disabling ends every credential. */
export async function switchAccount(
  trx: Trx,
  id: number,
  enabled: boolean,
  nowMilliseconds: number,
): Promise<boolean> {
  const changed = await updateEnabled(trx, id, enabled)
  if (changed && !enabled) {
    await revokeCredentials(trx, [id], nowMilliseconds)
    await voidLink(trx, id)
  }
  return changed
}

/** Ends every credential of the user, who may sign in again. */
export async function signOutUser(
  trx: Trx,
  input: { account: UserReference; stamp: Stamp },
): Promise<{ name: string } | Refusal> {
  await lockAdministration(trx, input.stamp)
  const account = await accountOf(trx, input.account)
  if ('refused' in account) return account
  await revokeCredentials(trx, [account.id], input.stamp.nowMilliseconds)
  await recordChange(trx, input.stamp, 'signed-out', account)
  return { name: account.name }
}

/**
 * Ends every credential of the next `limit` users after the number `afterId`; `lastId` is undefined when there are no
 * more. In portions, so that no transaction runs long, however many users there are.
 */
export async function signOutUsers(
  trx: Trx,
  { stamp, ...input }: { afterId: number; limit: number; stamp: Stamp },
): Promise<{ users: number; lastId: number | undefined }> {
  const ids = await nextUserIds(trx, input)
  const [firstId, lastId] = [ids[0], ids.at(-1)]
  if (firstId === undefined || lastId === undefined) return { users: 0, lastId: undefined }
  await revokeCredentials(trx, ids, stamp.nowMilliseconds)
  const data = { users: ids.length, firstId, lastId }
  const subject = { kind: 'account', id: '*' } as const
  await recordEvent(trx, stamp, { kind: 'everybody-signed-out', subject, data })
  return { users: ids.length, lastId }
}

export interface ChangeRolesInput {
  account: AccountReference
  roles: string[]
  stamp: Stamp
}

type ChangedRoles = { name: string; changed: string[]; roles: string[] }

/** `changed` names the roles that the account did not have; they show at the next refresh or sign-in. */
export function grantRoles(trx: Trx, input: ChangeRolesInput): Promise<ChangedRoles | Refusal> {
  return changeRoles(trx, input, 'roles-granted', (id) => insertRoles(trx, id, input.roles))
}

/** `changed` names the roles that the account had. Throws `last-administrator`. */
export function revokeRoles(trx: Trx, input: ChangeRolesInput): Promise<ChangedRoles | Refusal> {
  return changeRoles(trx, input, 'roles-revoked', (id) =>
    takeRoles(trx, id, input.roles, input.stamp.nowMilliseconds),
  )
}

/**
 * Returns the roles that the account had. Sessions lose them at once and go on with what is left, as token families do,
 * whose roles are read at each refresh. Access tokens that hold them end when instances next look at the account.
 */
export async function takeRoles(
  trx: Trx,
  id: number,
  roles: readonly string[],
  nowMilliseconds: number,
): Promise<string[]> {
  const taken = roles.length === 0 ? [] : await deleteRoles(trx, id, roles)
  if (taken.length === 0) return taken
  // Locks the account: a refresh that read the roles before is done, and a later one sees what is left of them.
  await updateCredentialsDate(trx, [id], nowMilliseconds)
  await takeRolesFromSessions(trx, id, taken)
  return taken
}

function changeRoles(
  trx: Trx,
  input: ChangeRolesInput,
  kind: 'roles-granted' | 'roles-revoked',
  change: (principalId: number) => Promise<string[]>,
): Promise<ChangedRoles | Refusal> {
  return keepAdministrator(trx, input.stamp, async () => {
    const account = await accountOf(trx, input.account)
    if ('refused' in account) return account
    const unknown = await refuseUnknownRoles(trx, input.roles)
    if (unknown !== undefined) return unknown
    const changed = await change(account.id)
    if (changed.length > 0) await recordChange(trx, input.stamp, kind, account, { roles: changed })
    return { name: account.name, changed, roles: await rolesOf(trx, account.id) }
  })
}

export interface RotateClientSecretInput {
  clientId: string
  secretHash: string
  /** Ends every earlier secret at once, and the tokens that they bought. */
  dropOld: boolean
  stamp: Stamp
}

/**
 * Adds a secret beside the newest one: at most two are active, an older one is dropped. A demo client's published
 * secret never stays. Whenever a secret is dropped, the access tokens issued so far end too.
 */
export async function rotateClientSecret(
  trx: Trx,
  { clientId, secretHash, dropOld, stamp }: RotateClientSecretInput,
): Promise<{ name: string; dropped: number } | Refusal> {
  await lockAdministration(trx, stamp)
  const account = await accountOf(trx, { kind: 'client', name: clientId })
  if ('refused' in account) return account
  const wasDemo = await clearDemoMark(trx, account.id)
  await insertSecret(trx, account.id, secretHash, stamp.nowMilliseconds)
  const dropped = await dropSecrets(trx, account.id, dropOld || wasDemo ? 1 : 2, stamp.nowMilliseconds)
  await recordChange(trx, stamp, 'secret-rotated', account, { dropped })
  return { name: account.name, dropped }
}

/** Ends a rotation: only the newest secret stays. */
export async function dropOldClientSecrets(
  trx: Trx,
  { clientId, stamp }: { clientId: string; stamp: Stamp },
): Promise<{ name: string; dropped: number } | Refusal> {
  await lockAdministration(trx, stamp)
  const account = await accountOf(trx, { kind: 'client', name: clientId })
  if ('refused' in account) return account
  const dropped = await dropSecrets(trx, account.id, 1, stamp.nowMilliseconds)
  if (dropped > 0) await recordChange(trx, stamp, 'secrets-dropped', account, { dropped })
  return { name: account.name, dropped }
}

async function dropSecrets(trx: Trx, principalId: number, kept: number, now: number): Promise<number> {
  const dropped = await deleteOldSecrets(trx, principalId, kept)
  if (dropped > 0) await revokeCredentials(trx, [principalId], now)
  return dropped
}

/** The event of a change of what is there already, which is a new version of the account. */
export async function recordChange(
  trx: Trx,
  stamp: Stamp,
  kind: EventKind<'account'>,
  account: Pick<Account, 'id' | 'name'>,
  data: AccountData = {},
): Promise<number> {
  await recordAccount(trx, stamp, kind, account, data)
  return raiseVersion(trx, account.id)
}

/** Names, roles and numbers only: the log is read by others than those who may know an email, or a hash. */
export interface AccountData {
  roles?: string[]
  dropped?: number
  formerName?: string
  email?: 'changed'
  timeZone?: string | null
  granted?: string[]
  revoked?: string[]
  enabled?: boolean
  displayName?: string | null
  endsAt?: string | null
}

export function recordAccount(
  trx: Trx,
  stamp: Stamp,
  kind: EventKind<'account'>,
  { id, name }: Pick<Account, 'id' | 'name'>,
  data: AccountData = {},
): Promise<void> {
  return recordEvent(trx, stamp, {
    kind,
    subject: { kind: 'account', id: String(id) },
    data: { name, ...data },
  })
}

/** The account, or the refusal that says there is none. */
export async function accountOf(
  db: Kysely<Database>,
  reference: AccountReference,
): Promise<Account | Refusal> {
  const account = await findAccount(db, reference)
  return account ?? { refused: reference.kind === 'user' ? 'no-such-user' : 'no-such-client' }
}
