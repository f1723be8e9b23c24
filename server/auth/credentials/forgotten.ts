import type { Trx } from '../../db/tables.ts'
import { newSecret, sha256 } from '../../ids.ts'
import { countSent, type MailKind, type Message, queueMail } from '../../mail/mail.ts'
import { someAdministrators } from '../accounts/roles/store.ts'
import { lockAccount } from '../accounts/store.ts'
import { linkAddress, linkEnd } from '../accounts/users/links.ts'
import { findUserByEmail, replaceLink } from '../accounts/users/store.ts'
import { hasPasskey } from './passkeys/store.ts'

const kind = 'forgotten-password'

/** How many of these mails an account gets in an hour. */
const mailsAnHour = 3

/** How many addresses may wait. */
const waitingLimit = 10_000

/** The log says that this set the password. It cannot be an account, because no name has spaces. */
const madeBy = 'a mailed link'

/** Queues the address, whether or not an account has it: so nobody can see the difference. */
export function requestLink(trx: Trx, input: { email: string; nowMilliseconds: number }): Promise<void> {
  const { email: recipient, nowMilliseconds } = input
  return queueMail(trx, { kind, recipient, nowMilliseconds, atMost: waitingLimit })
}

/** What a request for a new password comes to. */
type Outcome = { principalId: number; userName: string } & (
  | { gets: 'link' }
  /** The account has no password to forget: it signs in by passkey, or was never used. */
  | { gets: 'advice'; hasPasskey: boolean; administrators: string[] }
)

/**
 * Makes a link for the enabled account with this email, if it signs in by password alone. It voids the
 * previous one that was mailed, and none that an administrator made. Undefined if the account is to get no
 * mail.
 */
export async function makeMailedLink(
  trx: Trx,
  { email, tokenHash, nowMilliseconds }: { email: string; tokenHash: string; nowMilliseconds: number },
): Promise<Outcome | undefined> {
  const user = await findUserByEmail(trx, email)
  if (user === undefined || (await lockAccount(trx, user.principalId)) === undefined) return undefined
  const { principalId, userName, passwordHash } = user
  if ((await countSent(trx, { kind, principalId, nowMilliseconds })) >= mailsAnHour) return undefined
  const isByPasskey = await hasPasskey(trx, principalId, null)
  if (isByPasskey || passwordHash === null) {
    const administrators = await someAdministrators(trx, 3)
    return { principalId, userName, gets: 'advice', hasPasskey: isByPasskey, administrators }
  }
  const expiresAt = linkEnd(nowMilliseconds)
  await replaceLink(trx, { principalId, kind: 'forgotten', tokenHash, madeBy, expiresAt })
  return { principalId, userName, gets: 'link' }
}

/** The answer to a request for a new password. */
export const forgottenPassword: MailKind = {
  name: kind,
  async write({ db, clock, publicUrl }, { recipient: email }) {
    const token = newSecret()
    const input = { email, tokenHash: sha256(token), nowMilliseconds: clock() }
    const outcome = await db.write('makeMailedLink', input)
    if (outcome === undefined) return undefined
    const link = linkAddress(publicUrl(), { token, email })
    return { principalId: outcome.principalId, email, message: messageOf(outcome, publicUrl(), link) }
  },
}

function messageOf(outcome: Outcome, publicUrl: string, link: string): Message {
  const { host } = new URL(publicUrl)
  const greeting = `Hello ${outcome.userName},`
  const nothing = 'If you did not ask for this, you can ignore it. Your account is unchanged.'
  const reason = `You get this mail because someone entered this address under “Forgot your password?” at ${host}.`
  if (outcome.gets === 'link') {
    return {
      subject: 'Set a new password for Countersign',
      blocks: [
        greeting,
        'You can set a new password for Countersign. The link works once, within 24 hours.',
        { link, label: 'Set a new password' },
        nothing,
      ],
      reason,
    }
  }
  const how = outcome.hasPasskey
    ? 'Your account signs in with a passkey, so no link can be mailed to you. Choose “Use a passkey” on the sign-in page.'
    : 'Your account has no password yet. It needs the link of an invitation.'
  const names = outcome.administrators.join(', ')
  const what = outcome.hasPasskey ? 'If you have lost your passkey' : 'For a new one'
  const whom = names === '' ? 'an administrator' : `an administrator: ${names}`
  return {
    subject: 'How to sign in to Countersign',
    blocks: [
      greeting,
      how,
      `${what}, ask ${whom}.`,
      { link: `${publicUrl}/sign-in`, label: 'Sign in' },
      nothing,
    ],
    reason,
  }
}
