/** Users: people who sign in with a password, and the one-time links that set one. */
import { nameOfErased } from '../../../../proof/line.ts'
import { recordEvent } from '../../../audit/audit.ts'
import type { Stamp } from '../../../caller/stamp.ts'
import type { Trx } from '../../../db/tables.ts'
import { queueMail, sendsMail } from '../../../mail/mail.ts'
import { Problem } from '../../../problems/problems.ts'
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
import {
  type AccountReference,
  clearDemoMark,
  deleteCompanyAccount,
  revokeCredentials,
  voidLinks,
  voidMailedLinks,
} from '../store.ts'
import {
  deletePasskeys,
  findUser,
  insertUser,
  nextUserIds,
  type Password,
  updateEmail,
  updatePassword,
  updateUser,
  updateUserName,
} from './store.ts'

export interface AddUserInput extends AddAccountInput {
  userName: string
  /** In the form that `normalizeEmail` returns. */
  email: string
  /** Null for a user who will set a password by a link. */
  passwordHash: string | null
  timeZone: string | null
  /** As it is printed next to the user name. */
  fullName?: string | null
}

/** Throws `name-taken`, `email-taken`, `unknown-role`. */
export function addUser(trx: Trx, input: AddUserInput): Promise<{ id: number }> {
  return addAccount(trx, 'user', { ...input, name: input.userName }, async (id) => {
    const { passwordHash, stamp } = input
    await insertUser(trx, id, { ...input, password: { passwordHash, origin: { setBy: stamp.byId } } })
    return input.fullName ? { printedName: input.fullName } : {}
  })
}

/** Null leaves a value as it was. */
export interface UserChanges {
  userName: string | null
  /** In the form that `normalizeEmail` returns. */
  email: string | null
  timeZone: { value: string | null } | null
  fullName?: { value: string | null } | null
}

/** Like `changeAccount`, but may also throw `account-erased`, `name-taken` and `email-taken`. */
export function changeUser(trx: Trx, input: ChangeAccountInput<UserChanges>): Promise<{ version: number }> {
  const { userName, email, timeZone, fullName } = input.changes
  return changeAccount(trx, 'user', input, findUser, async (user) => {
    // Nobody else can have such a name.
    if (user.userName === nameOfErased(user.id)) throw new Problem('account-erased')
    const changed: AccountData = {}
    if (userName !== null && userName !== user.userName) {
      await updateUserName(trx, user.id, userName)
      changed.formerName = user.userName
    }
    if (email !== null && email !== user.email) {
      await moveEmail(trx, user, email, input.stamp)
      changed.email = 'changed'
    }
    if (timeZone !== null && timeZone.value !== user.timeZone) {
      await updateUser(trx, user.id, { time_zone: timeZone.value })
      changed.timeZone = timeZone.value
    }
    if (fullName && fullName.value !== user.name) {
      await updateUser(trx, user.id, { full_name: fullName.value })
      changed.printedName = fullName.value
    }
    return changed
  })
}

/**
 * The part that all changes of an email share. Links that were mailed to the old address end, and the old
 * address is mailed. Throws `email-taken`.
 */
export async function moveEmail(
  trx: Trx,
  user: { id: number; email: string },
  email: string,
  { by, byId, nowMilliseconds }: Stamp,
): Promise<void> {
  await updateEmail(trx, user.id, email)
  await voidMailedLinks(trx, user.id)
  if (!(await sendsMail(trx))) return
  const about = JSON.stringify({ principalId: user.id, by, byId, at: nowMilliseconds } satisfies EmailMove)
  await queueMail(trx, { kind: formerEmail, recipient: user.email, about, nowMilliseconds })
}

/** The kind of mail to an address that an account no longer has. */
export const formerEmail = 'former-email'

/** What such a mail is written from: the log holds no address. */
export interface EmailMove {
  principalId: number
  by: string
  byId: number | null
  at: number
}

/** Replaces the password, clears the demo mark and ends every credential of the user, passkeys included. */
export async function setPassword(
  trx: Trx,
  input: { account: AccountReference<'user'>; passwordHash: string; stamp: Stamp },
): Promise<{ name: string }> {
  const account = await requireAccount(trx, input.account)
  const { passwordHash, stamp } = input
  const password = { passwordHash, origin: { setBy: stamp.byId } }
  const reset = await resetPassword(trx, account.id, password, stamp)
  await recordChange(trx, stamp, 'password-set', account, reset)
  return { name: account.name }
}

/** The part that all ways of setting a password share. */
export async function givePassword(
  trx: Trx,
  principalId: number,
  password: Password,
  { nowMilliseconds }: Stamp,
): Promise<void> {
  await revokeCredentials(trx, [principalId], nowMilliseconds)
  await voidLinks(trx, principalId)
  await clearDemoMark(trx, principalId)
  await updatePassword(trx, principalId, password)
}

/**
 * The same by someone other than the user. It also deletes the passkeys and unlinks the company account,
 * because one that a thief added must not survive. Returns what went, for the event.
 */
export async function resetPassword(
  trx: Trx,
  principalId: number,
  password: Password,
  stamp: Stamp,
): Promise<{ passkeys?: string[]; unlinked?: true }> {
  await givePassword(trx, principalId, password, stamp)
  const passkeys = await deletePasskeys(trx, principalId)
  const isUnlinked = await deleteCompanyAccount(trx, principalId)
  return { ...(passkeys.length > 0 && { passkeys }), ...(isUnlinked && { unlinked: true }) }
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
  const facts = { users: ids.length, firstId, lastId }
  const subject = { kind: 'account', id: '*' } as const
  await recordEvent(trx, stamp, { kind: 'everybody-signed-out', subject, facts })
  return { users: ids.length, lastId }
}
