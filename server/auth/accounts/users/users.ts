import type { Transaction } from '#kysely'
import type { Stamp } from '../../../audit/event.ts'
import { recordEvent } from '../../../audit/events.ts'
import type { Database } from '../../../db/tables.ts'
import { versionTag } from '../../../http/preconditions.ts'
import { Problem } from '../../../http/problems.ts'
import {
  type AccountData,
  accountOf,
  recordAccount,
  recordChange,
  replaceRoles,
  switchAccount,
} from '../accounts.ts'
import { keepAdministrator, lockAdministration } from '../roles/administrators.ts'
import type { Refusal } from '../roles/refusal.ts'
import { refuseUnknownRoles } from '../roles/roles.ts'
import { insertRoles } from '../roles/store.ts'
import {
  clearDemoMark,
  deletePrincipal,
  insertPrincipal,
  lockVersion,
  revokeCredentials,
  type UserReference,
  voidLink,
} from '../store.ts'
import {
  findUser,
  insertUser,
  nextUserIds,
  type UserAccount,
  updateEmail,
  updatePassword,
  updateTimeZone,
  updateUserName,
} from './store.ts'

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

export interface ChangeUserInput {
  id: number
  /** Versions that If-Match accepts; null for any. */
  acceptedVersions: number[] | null
  changes: UserChanges
  stamp: Stamp
}

/** Null for what stays as it is. */
export interface UserChanges {
  userName: string | null
  /** As `normalizeEmail` gives it. */
  email: string | null
  timeZone: { value: string | null } | null
  roles: string[] | null
  enabled: boolean | null
}

/**
 * Changes a user, all of it or nothing, and leaves one event that says what moved; what is so already leaves version and
 * log as they are. Roles are replaced. Disabling ends every credential; losing a role takes it from all of them. Throws
 * `user-not-found`, `precondition-failed`, `name-taken`, `email-taken`, `unknown-role`, `last-administrator`.
 */
export function changeUser(
  trx: Trx,
  { id, acceptedVersions, changes, stamp }: ChangeUserInput,
): Promise<{ version: number }> {
  return keepAdministrator(trx, stamp, async () => {
    const user = await lockedUser(trx, id, acceptedVersions)
    const moved: AccountData = {
      ...(await changeNames(trx, user, changes)),
      ...(await replaceRoles(trx, user, changes.roles, stamp.nowMilliseconds)),
    }
    const { enabled } = changes
    if (enabled !== null && (await switchAccount(trx, id, enabled, stamp.nowMilliseconds)))
      moved.enabled = enabled
    if (Object.keys(moved).length === 0) return { version: user.version }
    const account = { id, name: changes.userName ?? user.userName }
    return { version: await recordChange(trx, stamp, 'user-changed', account, moved) }
  })
}

async function lockedUser(trx: Trx, id: number, acceptedVersions: number[] | null): Promise<UserAccount> {
  const isLocked = await lockVersion(trx, 'user', id, acceptedVersions)
  const user = await findUser(trx, id)
  if (user === undefined) throw new Problem('user-not-found')
  if (!isLocked) throw new Problem('precondition-failed', { headers: { etag: versionTag(user.version) } })
  return user
}

async function changeNames(trx: Trx, user: UserAccount, changes: UserChanges): Promise<AccountData> {
  const moved: AccountData = {}
  const { userName, email, timeZone } = changes
  if (userName !== null && userName !== user.userName) {
    if (!(await updateUserName(trx, user.id, userName))) throw new Problem('name-taken')
    moved.formerName = user.userName
  }
  if (email !== null && email !== user.email) {
    if (!(await updateEmail(trx, user.id, email))) throw new Problem('email-taken')
    moved.email = 'changed'
  }
  if (timeZone !== null && timeZone.value !== user.timeZone) {
    await updateTimeZone(trx, user.id, timeZone.value)
    moved.timeZone = timeZone.value
  }
  return moved
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
