import type { Trx } from '../../db/tables.ts'
import { newSecret, sha256 } from '../../ids.ts'
import { type MailKind, type Message, momentIn } from '../../mail/mail.ts'
import { lockAccount } from '../accounts/store.ts'
import { linkAddress } from '../accounts/users/links.ts'
import { findLink, findUser, replaceLink } from '../accounts/users/store.ts'
import { hasPasskey } from './passkeys/store.ts'

interface SentLink {
  userName: string
  email: string
  timeZone: string | null
  hasPassword: boolean
  madeBy: string
  expiresAt: number
}

/**
 * Makes a second link, for mail, next to one that was shown to an administrator and still works. Undefined if
 * there is none, or if the account has a passkey: no mailed link replaces a passkey.
 */
export async function makeSentLink(
  trx: Trx,
  input: { principalId: number; tokenHash: string; nowMilliseconds: number },
): Promise<SentLink | undefined> {
  const { principalId, tokenHash, nowMilliseconds } = input
  if ((await lockAccount(trx, principalId)) === undefined) return undefined
  const shown = await findLink(trx, { principalId, kind: 'shown', nowMilliseconds })
  const user = await findUser(trx, principalId)
  if (shown === undefined || user === undefined || (await hasPasskey(trx, principalId, null)))
    return undefined
  const { userName, email, timeZone, hasPassword } = user
  await replaceLink(trx, { principalId, kind: 'sent', tokenHash, ...shown })
  return { userName, email, timeZone, hasPassword, ...shown }
}

/** The link that an administrator made, mailed to the user. */
export const sentLink: MailKind = {
  name: 'link',
  async follow(_trx, { kind, subject_id }) {
    return kind === 'link-made' ? [Number(subject_id)] : []
  },
  async write({ db, clock, publicUrl, defaultTimeZone }, { recipient }) {
    const principalId = Number(recipient)
    const token = newSecret()
    const input = { principalId, tokenHash: sha256(token), nowMilliseconds: clock() }
    const sent = await db.write('makeSentLink', input)
    if (sent === undefined) return undefined
    const { email } = sent
    const until = momentIn(sent.timeZone ?? defaultTimeZone, sent.expiresAt)
    const link = linkAddress(publicUrl(), { token, email })
    return { principalId, email, message: messageOf(sent, { link, until, publicUrl: publicUrl() }) }
  },
}

function messageOf(
  { userName, madeBy, hasPassword }: SentLink,
  { link, until, publicUrl }: Record<'link' | 'until' | 'publicUrl', string>,
): Message {
  const { host } = new URL(publicUrl)
  const [subject, what] = hasPassword
    ? ['Set a new password for Countersign', `${madeBy} made a link for you to set a new password.`]
    : [
        'Your account at Countersign',
        `${madeBy} invited you to Countersign, at ${host}. Set a password to begin.`,
      ]
  return {
    subject,
    blocks: [
      `Hello ${userName},`,
      what,
      `The link works once, until ${until}.`,
      { link, label: hasPassword ? 'Set a new password' : 'Set your password' },
    ],
    reason: `You get this mail because ${madeBy} made a link for your account at ${host}.`,
  }
}
