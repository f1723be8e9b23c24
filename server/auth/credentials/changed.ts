import { type SealedEvent, sealedEvents } from '../../audit/audit.ts'
import { type MailKind, type Message, momentIn } from '../../mail/mail.ts'
import { findUser } from '../accounts/users/store.ts'
import { type EmailMove, formerEmail } from '../accounts/users/users.ts'

/** What an event says to the person whose account it changed; undefined if it changed no credential. */
function newsOf({ kind, data }: Pick<SealedEvent, 'kind' | 'data'>): string | undefined {
  const { passkey, mailed, email } = JSON.parse(data)
  switch (kind) {
    case 'password-changed':
      return 'The password of your account was changed.'
    case 'password-set':
      return 'A new password was set for your account.'
    case 'link-used':
      return mailed
        ? 'The password of your account was set by a link that was mailed to you.'
        : 'The password of your account was set by a one-time link of an administrator.'
    case 'password-removed':
      return 'The password of your account was removed. It signs in by passkey alone.'
    case 'passkey-added':
      return `The passkey “${passkey.name}” was added to your account.`
    case 'passkey-removed':
      return 'A passkey was removed from your account.'
    case 'user-changed':
      return email === undefined ? undefined : 'The email of your account was changed to this address.'
    default:
      return undefined
  }
}

/** Says that a password, a passkey or an email was changed, so that its owner can object. */
export const changedCredentials: MailKind = {
  name: 'changed-credentials',
  async follow(_trx, event) {
    const isNews = event.subject_kind === 'account' && newsOf(event) !== undefined
    return isNews ? [Number(event.subject_id)] : []
  },
  async write({ db, publicUrl, defaultTimeZone }, { recipient, about }) {
    const user = await findUser(db.read, Number(recipient))
    const sequence = Number(about)
    const [event] = await sealedEvents(db.read, { first: sequence, last: sequence, direction: 'asc' })
    const news = event && newsOf(event)
    if (event === undefined || news === undefined || !user?.enabled) return undefined
    const { id: principalId, userName, email, timeZone } = user
    const when = momentIn(timeZone ?? defaultTimeZone, event.at)
    const who = otherThan(principalId, { by: event.by_name, byId: event.by_id })
    return { principalId, email, message: messageOf({ userName, news, when: `${when}${who}` }, publicUrl()) }
  },
}

/** News that is older is no news: mail may have been off. */
const freshMilliseconds = 24 * 3_600_000

/** Says to the address that an account had before that it has another one now. */
export const emailMoved: MailKind = {
  name: formerEmail,
  async write({ db, clock, publicUrl, defaultTimeZone }, { recipient: email, about }) {
    const { principalId, at, ...by }: EmailMove = JSON.parse(about)
    const user = await findUser(db.read, principalId)
    if (!user?.enabled || at <= clock() - freshMilliseconds) return undefined
    const { userName, timeZone } = user
    const when = `${momentIn(timeZone ?? defaultTimeZone, at)}${otherThan(principalId, by)}`
    const news = 'The email of your account was changed. It is no longer this address.'
    return { principalId, email, message: messageOf({ userName, news, when }, publicUrl()) }
  },
}

function otherThan(principalId: number, { by, byId }: Pick<EmailMove, 'by' | 'byId'>): string {
  return byId === principalId ? '' : ` by ${byId === null ? 'an operator' : by}`
}

function messageOf(
  { userName, news, when }: Record<'userName' | 'news' | 'when', string>,
  publicUrl: string,
): Message {
  return {
    subject: 'Your Countersign account was changed',
    blocks: [
      `Hello ${userName},`,
      news,
      `It happened on ${when}.`,
      'If it was not you, ask an administrator to disable your account, or change your password and sign out everywhere else.',
      { link: `${publicUrl}/account`, label: 'My account' },
    ],
    reason: `You get this mail because it is about the security of your account at ${new URL(publicUrl).host}.`,
  }
}
