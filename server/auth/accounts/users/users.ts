/** Users: people who sign in with a password, and the one-time links that set one. */
import type { Transaction } from '#kysely'
import { recordEvent, type Stamp } from '../../../audit/audit.ts'
import type { Database } from '../../../db/tables.ts'
import {
  type AccountData,
  type AddAccountInput,
  addAccount,
  type ChangeAccountInput,
  changeAccount,
  recordChange,
  requireAccount,
} from '../accounts.ts'
import { lockAdministration } from '../roles/administrators.ts'
import { type AccountReference, clearDemoMark, revokeCredentials, voidLink } from '../store.ts'
import {
  findUser,
  insertUser,
  nextUserIds,
  updateEmail,
  updatePassword,
  updateTimeZone,
  updateUserName,
} from './store.ts'

type Trx = Transaction<Database>

export interface AddUserInput extends AddAccountInput {
  userName: string
  /** As `normalizeEmail` gives it. */
  email: string
  /** Null for a user who will set a password by a link. */
  passwordHash: string | null
  timeZone: string | null
}

/** Throws `name-taken`, `email-taken`, `unknown-role`. */
export function addUser(trx: Trx, input: AddUserInput): Promise<{ id: number }> {
  return addAccount(trx, 'user', { ...input, name: input.userName }, (id) => insertUser(trx, id, input))
}

/** Null for what stays. */
export interface UserChanges {
  userName: string | null
  /** As `normalizeEmail` gives it. */
  email: string | null
  timeZone: { value: string | null } | null
}

/** As `changeAccount`. Throws `name-taken` and `email-taken` as well. */
export function changeUser(trx: Trx, input: ChangeAccountInput<UserChanges>): Promise<{ version: number }> {
  const { userName, email, timeZone } = input.changes
  return changeAccount(trx, 'user', input, findUser, async (user) => {
    const changed: AccountData & { name: string } = { name: userName ?? user.userName }
    if (userName !== null && userName !== user.userName) {
      await updateUserName(trx, user.id, userName)
      changed.formerName = user.userName
    }
    if (email !== null && email !== user.email) {
      await updateEmail(trx, user.id, email)
      changed.email = 'changed'
    }
    if (timeZone !== null && timeZone.value !== user.timeZone) {
      await updateTimeZone(trx, user.id, timeZone.value)
      changed.timeZone = timeZone.value
    }
    return changed
  })
}

/** Replaces the password, clears the demo mark and ends every credential of the user, links included. */
export async function setPassword(
  trx: Trx,
  input: { account: AccountReference<'user'>; passwordHash: string; stamp: Stamp },
): Promise<{ name: string }> {
  const account = await requireAccount(trx, input.account)
  await givePassword(trx, account.id, input.passwordHash, input.stamp.nowMilliseconds)
  await recordChange(trx, input.stamp, 'password-set', account)
  return { name: account.name }
}

/** The part of a new password that every way to set one shares. */
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

/** Ends every credential of the user, who can sign in again. */
export async function signOutUser(
  trx: Trx,
  input: { account: AccountReference<'user'>; stamp: Stamp },
): Promise<{ name: string }> {
  await lockAdministration(trx, input.stamp)
  const account = await requireAccount(trx, input.account)
  await revokeCredentials(trx, [account.id], input.stamp.nowMilliseconds)
  await recordChange(trx, input.stamp, 'signed-out', account)
  return { name: account.name }
}

/**
 * Ends every credential of the next `limit` users after the id `afterId`; `lastId` is undefined when there
 * are no more. In batches, so that no transaction runs long however many users there are.
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
