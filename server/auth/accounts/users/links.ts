import type { Stamp } from '../../../caller/stamp.ts'
import type { Trx } from '../../../db/tables.ts'
import { Problem } from '../../../problems/problems.ts'
import { recordAccount, recordChange, requireAccount } from '../accounts.ts'
import { lockAdministration } from '../roles/administrators.ts'
import { type AccountReference, lockAccount, voidLinks } from '../store.ts'
import { findUser, replaceLink, takeLink } from './store.ts'
import { type AddUserInput, addUser, givePassword, resetPassword } from './users.ts'

const lifetimeMilliseconds = 24 * 3_600_000

export function linkEnd(nowMilliseconds: number): number {
  return nowMilliseconds + lifetimeMilliseconds
}

/**
 * The page of the web app that asks for the new password, or confirms a new email. A browser never sends what
 * follows the `#`, so no log and no Referer contains the token. The email is for the sign-in that follows.
 */
export function linkAddress(
  publicUrl: string,
  { token, email }: { token: string; email: string },
  page: '/link' | '/new-email' = '/link',
): string {
  return `${publicUrl}${page}#${new URLSearchParams({ token, email })}`
}

export interface MakeLinkInput {
  account: AccountReference<'user'>
  /** Hash of a new secret, which is shown once and never stored. */
  tokenHash: string
  /** The sign-in of the administrator; absent for a command line. */
  signInId?: string | null
  stamp: Stamp
}

export interface MadeLink {
  name: string
  email: string
  expiresAt: number
}

/**
 * Makes a link by which the user sets a password, once, within 24 hours. It voids all previous links, and
 * ends with the credentials of the administrator who made it.
 */
export async function makeLink(
  trx: Trx,
  { account: reference, tokenHash, signInId = null, stamp }: MakeLinkInput,
): Promise<MadeLink> {
  await lockAdministration(trx, stamp)
  const account = await requireAccount(trx, reference)
  const { id: principalId, name, email } = account
  if ((await lockAccount(trx, principalId)) === undefined) throw new Problem('account-disabled')
  const expiresAt = linkEnd(stamp.nowMilliseconds)
  await voidLinks(trx, principalId)
  const asked = { askedById: stamp.byId, signInId }
  await replaceLink(trx, { principalId, kind: 'shown', tokenHash, ...asked, expiresAt })
  await recordAccount(trx, stamp, 'link-made', account)
  return { name, email: email ?? '', expiresAt }
}

/**
 * Adds a user without a password, and makes their link. It records two events. Throws `name-taken`,
 * `email-taken`, `unknown-role`.
 */
export async function inviteUser(
  trx: Trx,
  input: Omit<AddUserInput, 'passwordHash'> & { tokenHash: string; linkEventId: string },
): Promise<{ id: number }> {
  const { tokenHash, linkEventId, ...user } = input
  const { id } = await addUser(trx, { ...user, passwordHash: null })
  const stamp = { ...user.stamp, eventId: linkEventId }
  await makeLink(trx, { account: { kind: 'user', id }, tokenHash, stamp })
  return { id }
}

export interface UseLinkInput {
  tokenHash: string
  passwordHash: string
  /** The stamp names the user whom the link belongs to. */
  stamp: Stamp & { byId: number }
}

/**
 * Sets the password and ends every credential of the user. Passkeys end too, unless the link was mailed:
 * someone who reads the mail must not be able to remove them. Throws `link-not-found` if the link does not
 * work. Of any number of simultaneous uses, exactly one succeeds. The account is locked first, as in
 * every change of credentials.
 */
export async function useLink(trx: Trx, { tokenHash, passwordHash, stamp }: UseLinkInput): Promise<void> {
  const { byId: principalId, nowMilliseconds } = stamp
  const account = await lockAccount(trx, principalId)
  const link = await takeLink(trx, { principalId, tokenHash, purpose: 'password', nowMilliseconds })
  if (account === undefined || link === undefined) throw new Problem('link-not-found')
  const isFirst = await hasNoCredential(trx, principalId)
  const origin = link.kind === 'forgotten' ? 'mailed' : { setBy: link.askedById ?? null }
  const password = { passwordHash, origin } as const
  if (link.kind !== 'shown') {
    await givePassword(trx, principalId, password, stamp)
    await recordChange(trx, stamp, 'link-used', account, { mailed: true, ...(isFirst && { first: true }) })
  } else {
    const reset = await resetPassword(trx, principalId, password, stamp)
    const first = isFirst && reset.passkeys === undefined && { first: true }
    await recordChange(trx, stamp, 'link-used', account, { ...reset, ...first })
  }
}

/** Whether the user has neither a password nor a company account. */
export async function hasNoCredential(trx: Trx, principalId: number): Promise<boolean> {
  const user = await findUser(trx, principalId)
  return user !== undefined && !user.hasPassword && !user.hasCompanyAccount
}
