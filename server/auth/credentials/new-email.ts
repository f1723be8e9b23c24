/** A new email of one's own. It counts once the person confirms it by the link that was mailed to it. */
import type { Stamp } from '../../caller/stamp.ts'
import type { Touch } from '../../caller/touch.ts'
import type { Trx } from '../../db/tables.ts'
import { countSent, countWaiting, queueMail } from '../../mail/mail.ts'
import { Problem } from '../../problems/problems.ts'
import { recordChange } from '../accounts/accounts.ts'
import { awaitAdministration } from '../accounts/roles/administrators.ts'
import { type CheckedCredentials, confirmCredentials, lockAccount, lockOwn } from '../accounts/store.ts'
import { linkEnd } from '../accounts/users/links.ts'
import { emailOf, endEmailLink, replaceLink, takeLink } from '../accounts/users/store.ts'
import { moveEmail } from '../accounts/users/users.ts'
import { type EmailAsked, emailAsked } from './changed.ts'
import { newEmail as linkMail } from './mailed-links.ts'
import { takeTouch } from './passkeys/store.ts'

/** How many requests of an account are mailed in an hour. */
const mailedAnHour = 3

export interface RequestEmailInput {
  email: string
  /** Hash of a secret that nobody knows: the token is made when the mail is sent. */
  tokenHash: string
  signInId: string | null
  stamp: Stamp & { byId: number }
}

/**
 * Mails a link to the new address, whether or not another account has it, and at the same time a word to the
 * old one. A newer request replaces the older one, and its link ends. Beyond the limit nothing is mailed, and
 * only a link to another address ends. Throws `authentication-required`.
 */
export async function requestEmail(trx: Trx, input: RequestEmailInput): Promise<void> {
  const { email: newEmail, tokenHash, signInId, stamp } = input
  const { byId: principalId, nowMilliseconds } = stamp
  await lockOwn(trx, stamp)
  const word = { kind: emailAsked.name, recipient: await emailOf(trx, principalId) }
  // In this order: one that is sent meanwhile is counted.
  const waiting = await countWaiting(trx, word)
  const sent = await countSent(trx, { ...word, principalId, nowMilliseconds })
  if (waiting + sent >= mailedAnHour) return endEmailLink(trx, { principalId, unlessTo: newEmail })
  const expiresAt = linkEnd(nowMilliseconds)
  const asked = { askedById: principalId, signInId, expiresAt, newEmail }
  await replaceLink(trx, { principalId, kind: 'email', tokenHash, ...asked })
  const about = JSON.stringify({ principalId, at: nowMilliseconds, newEmail } satisfies EmailAsked)
  await queueMail(trx, { ...word, about, nowMilliseconds })
  const { name: kind, gatherMilliseconds } = linkMail
  await queueMail(trx, { kind, recipient: String(principalId), nowMilliseconds, gatherMilliseconds })
}

export interface UseEmailLinkInput extends CheckedCredentials {
  tokenHash: string
  /** Null if the password was given. */
  touch: Touch | null
  /** The stamp names the account. */
  stamp: Stamp & { byId: number }
}

/**
 * Changes the email. Throws `link-not-found` if the link does not work, `invalid-credentials` if what was
 * given no longer counts, and `email-taken`. Changes of emails wait for each other, so of two people who want
 * the same address one gets it.
 */
export async function useEmailLink(trx: Trx, input: UseEmailLinkInput): Promise<void> {
  const { tokenHash, principalId, touch, stamp } = input
  const { nowMilliseconds } = stamp
  await awaitAdministration(trx)
  const account = await lockAccount(trx, principalId)
  const link = await takeLink(trx, { principalId, tokenHash, purpose: 'email', nowMilliseconds })
  if (account === undefined || !link?.newEmail) throw new Problem('link-not-found')
  await confirmCredentials(trx, input)
  await takeTouch(trx, { principalId, touch, nowMilliseconds })
  const user = { ...account, email: await emailOf(trx, principalId) }
  await moveEmail(trx, user, link.newEmail, stamp)
  await recordChange(trx, stamp, 'user-changed', user, { email: 'changed' })
}
