import type { Transaction } from '#kysely'
import type { Stamp } from '../../../audit/audit.ts'
import type { Database } from '../../../db/tables.ts'
import { Problem } from '../../../http/problems.ts'
import { recordAccount, recordChange, requireAccount } from '../accounts.ts'
import { lockAdministration } from '../roles/administrators.ts'
import { type AccountReference, lockAccount } from '../store.ts'
import { replaceLink, takeLink } from './store.ts'
import { givePassword } from './users.ts'

const lifetimeMilliseconds = 24 * 3_600_000

/**
 * Where the web app asks for the password. A browser sends nothing after the `#`, so no log and no Referer
 * has the token. The email is for the sign-in that follows.
 */
export function linkAddress(publicUrl: string, { token, email }: { token: string; email: string }): string {
  return `${publicUrl}/link#${new URLSearchParams({ token, email })}`
}

export interface MakeLinkInput {
  account: AccountReference<'user'>
  /** Hash of a new secret, which is shown once and never stored. */
  tokenHash: string
  stamp: Stamp
}

export interface MadeLink {
  name: string
  email: string
  expiresAt: number
}

/** Makes a link by which the user sets a password, once, within 24 hours. It voids the previous link. */
export async function makeLink(
  trx: Transaction<Database>,
  { account: reference, tokenHash, stamp }: MakeLinkInput,
): Promise<MadeLink> {
  await lockAdministration(trx, stamp)
  const account = await requireAccount(trx, reference)
  const { id: principalId, name, email } = account
  if ((await lockAccount(trx, principalId)) === undefined) throw new Problem('account-disabled')
  const expiresAt = stamp.nowMilliseconds + lifetimeMilliseconds
  await replaceLink(trx, { principalId, tokenHash, expiresAt })
  await recordAccount(trx, stamp, 'link-made', account)
  return { name, email: email ?? '', expiresAt }
}

export interface UseLinkInput {
  tokenHash: string
  passwordHash: string
  /** By the user whose link it is. */
  stamp: Stamp & { byId: number }
}

/**
 * Sets the password and ends every credential of the user. Throws `link-not-found` if the link does not work;
 * of any number of simultaneous uses exactly one works. The account is locked first, as in every change of
 * credentials.
 */
export async function useLink(
  trx: Transaction<Database>,
  { tokenHash, passwordHash, stamp }: UseLinkInput,
): Promise<void> {
  const { byId: principalId, nowMilliseconds } = stamp
  const account = await lockAccount(trx, principalId)
  const serves = await takeLink(trx, { principalId, tokenHash, nowMilliseconds })
  if (account === undefined || !serves) throw new Problem('link-not-found')
  await givePassword(trx, principalId, passwordHash, nowMilliseconds)
  await recordChange(trx, stamp, 'link-used', account)
}
