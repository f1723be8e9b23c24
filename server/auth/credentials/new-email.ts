/** A new email of one's own: it counts from the moment when a link that was mailed to it is used. */
import type { Stamp } from '../../caller/stamp.ts'
import type { Trx } from '../../db/tables.ts'
import { newSecret, sha256 } from '../../ids.ts'
import { countSent, type MailKind, type Message, queueMail } from '../../mail/mail.ts'
import { Problem } from '../../problems/problems.ts'
import { recordChange } from '../accounts/accounts.ts'
import { awaitAdministration } from '../accounts/roles/administrators.ts'
import { lockAccount } from '../accounts/store.ts'
import { emailLinkAddress, linkEnd } from '../accounts/users/links.ts'
import { findLink, findUser, replaceLink, takeLink } from '../accounts/users/store.ts'
import { moveEmail } from '../accounts/users/users.ts'

const kind = 'new-email'

/** How many of these mails an account gets in an hour. */
const mailsAnHour = 3

export interface RequestEmailInput {
  email: string
  /** Hash of a secret that nobody knows: the token is made when the mail is sent. */
  tokenHash: string
  stamp: Stamp & { byId: number }
}

/**
 * Queues the mail to the new address, whether or not another account has it. A newer request replaces the
 * older one, and its link ends.
 */
export async function requestEmail(trx: Trx, { email, tokenHash, stamp }: RequestEmailInput): Promise<void> {
  const { byId: principalId, by: madeBy, nowMilliseconds } = stamp
  if ((await lockAccount(trx, principalId)) === undefined) throw new Problem('authentication-required')
  const expiresAt = linkEnd(nowMilliseconds)
  await replaceLink(trx, { principalId, kind: 'email', tokenHash, madeBy, expiresAt, newEmail: email })
  await queueMail(trx, { kind, recipient: String(principalId), nowMilliseconds })
}

/**
 * Gives the link that was asked for its token. Undefined if there is to be no mail: the request has ended, or
 * was one too many.
 */
export async function makeEmailLink(
  trx: Trx,
  input: { principalId: number; tokenHash: string; nowMilliseconds: number },
): Promise<{ userName: string; newEmail: string } | undefined> {
  const { principalId, tokenHash, nowMilliseconds } = input
  const account = await lockAccount(trx, principalId)
  const asked = await findLink(trx, { principalId, kind: 'email', nowMilliseconds })
  if (account === undefined || !asked?.newEmail) return undefined
  if ((await countSent(trx, { kind, principalId, nowMilliseconds })) >= mailsAnHour) return undefined
  const expiresAt = linkEnd(nowMilliseconds)
  await replaceLink(trx, { ...asked, principalId, kind: 'email', tokenHash, expiresAt })
  return { userName: account.name, newEmail: asked.newEmail }
}

/**
 * Changes the email. Throws `link-not-found` if the link does not work, and `email-taken`. Changes of
 * emails wait for each other, so of two people who want the same address one gets it.
 */
export async function useEmailLink(
  trx: Trx,
  { tokenHash, stamp }: { tokenHash: string; stamp: Stamp & { byId: number } },
): Promise<void> {
  await awaitAdministration(trx)
  const { byId: principalId, nowMilliseconds } = stamp
  const account = await lockAccount(trx, principalId)
  const link = await takeLink(trx, { principalId, tokenHash, purpose: 'email', nowMilliseconds })
  const user = await findUser(trx, principalId)
  if (account === undefined || user === undefined || !link?.newEmail) throw new Problem('link-not-found')
  await moveEmail(trx, user, link.newEmail, stamp)
  await recordChange(trx, stamp, 'user-changed', account, { email: 'changed' })
}

/** The link, mailed to the new address. */
export const newEmail: MailKind = {
  name: kind,
  async write({ db, clock, publicUrl }, { recipient }) {
    const principalId = Number(recipient)
    const token = newSecret()
    const input = { principalId, tokenHash: sha256(token), nowMilliseconds: clock() }
    const made = await db.write('makeEmailLink', input)
    if (made === undefined) return undefined
    const { userName, newEmail: email } = made
    const link = emailLinkAddress(publicUrl(), { token, email })
    return { principalId, email, message: messageOf(userName, link) }
  },
}

function messageOf(userName: string, link: string): Message {
  const { host } = new URL(link)
  return {
    subject: 'Confirm your new email for Countersign',
    blocks: [
      `Hello ${userName},`,
      'Confirm that this is the new email of your account. The link works once, within 24 hours.',
      { link, label: 'Confirm the email' },
      'If you did not ask for this, you can ignore it. Nothing changes until the link is used.',
    ],
    reason: `You get this mail because ${userName} entered this address under “My account” at ${host}.`,
  }
}
