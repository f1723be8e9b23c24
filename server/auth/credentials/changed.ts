import { type SealedEvent, sealedEvents, toldBy } from '../../audit/audit.ts'
import { type MailKind, type MailParts, momentIn, type WrittenMail } from '../../mail/mail.ts'
import { anAdministrator } from '../accounts/roles/administrators.ts'
import { findUser, type UserAccount } from '../accounts/users/store.ts'
import { type EmailMove, formerEmail } from '../accounts/users/users.ts'

/** The news in an event for the person whose account it changed; undefined if it changed no credential. */
function newsOf({ kind, data, clear }: Pick<SealedEvent, 'kind' | 'data' | 'clear'>): string | undefined {
  const { mailed, first, company, email } = JSON.parse(data)
  switch (kind) {
    case 'password-changed':
      return 'The password of your account was changed.'
    case 'password-set':
      return 'A new password was set for your account.'
    case 'link-used':
      // Someone who was invited knows that they have just set their first password, and the next event says
      // that a company account was linked.
      if (first || company !== undefined) return undefined
      return mailed
        ? 'The password of your account was set by a link that was mailed to you.'
        : 'The password of your account was set by a one-time link of an administrator.'
    case 'password-removed':
      return 'The password of your account was removed. It signs in by passkey alone.'
    case 'passkey-added':
      return `The passkey “${JSON.parse(clear).passkeyName.value}” was added to your account.`
    case 'passkey-removed':
      return 'A passkey was removed from your account.'
    case 'company-linked':
      return 'A company account was linked to your account.'
    case 'company-unlinked':
      return 'The company account was unlinked from your account.'
    case 'user-changed':
      return email === undefined ? undefined : 'The email of your account was changed to this address.'
    default:
      return undefined
  }
}

const changed = {
  subject: 'Your Countersign account was changed',
  objection:
    'If it was not you, ask an administrator to disable your account, or change your password and sign out everywhere else.',
}

/** Says that a password, a passkey or an email was changed, so that its owner can object. */
export const changedCredentials: MailKind = {
  name: 'changed-credentials',
  async follow(_trx, events) {
    const news = events.filter((event) => event.subject_kind === 'account' && newsOf(event) !== undefined)
    return new Map(news.map(({ sequence, subject_id }) => [sequence, [Number(subject_id)]]))
  },
  async write(parts, { recipient, about }) {
    const { db } = parts
    const user = await findUser(db.read, Number(recipient))
    const sequence = Number(about)
    const [event] = await sealedEvents(db.read, { first: sequence, last: sequence, direction: 'asc' })
    const news = event && newsOf(event)
    if (event === undefined || news === undefined || !user?.enabled) return undefined
    const when = `${whenOf(parts, user, event.at)}${otherThan(user.id, { by: toldBy(event).by, byId: event.by_id })}`
    const paragraphs = [news, `It happened on ${when}.`, changed.objection]
    return letterTo(parts, user, { email: user.email, subject: changed.subject, paragraphs })
  },
}

/** News that is older is no news: mail may have been off. */
const freshMilliseconds = 24 * 3_600_000

/** Says to the address that an account had before that it has another one now. */
export const emailMoved: MailKind = {
  name: formerEmail,
  async write(parts, { recipient: email, about }) {
    const { principalId, at, ...by }: EmailMove = JSON.parse(about)
    const user = await findUser(parts.db.read, principalId)
    if (!user?.enabled || at <= parts.clock() - freshMilliseconds) return undefined
    const paragraphs = [
      'The email of your account was changed. It is no longer this address.',
      `It happened on ${whenOf(parts, user, at)}${otherThan(principalId, by)}.`,
      changed.objection,
    ]
    return letterTo(parts, user, { email, subject: changed.subject, paragraphs })
  },
}

export interface EmailAsked {
  principalId: number
  at: number
  newEmail: string
}

/** Says to the address that an account has that another one was asked for, before anything changes. */
export const emailAsked: MailKind = {
  name: 'email-asked',
  async write(parts, { recipient: email, about }) {
    const { principalId, at, newEmail }: EmailAsked = JSON.parse(about)
    const user = await findUser(parts.db.read, principalId)
    if (!user?.enabled || at <= parts.clock() - freshMilliseconds) return undefined
    const paragraphs = [
      `Someone who is signed in to your account asked on ${whenOf(parts, user, at)} to change its email to ${newEmail}.`,
      'Nothing changes until the link that was mailed there is confirmed with your password or your passkey.',
      `If it was not you, press “Sign out everywhere else” under “My account”, or ask ${await anAdministrator(parts.db.read)} to sign you out. Either stops it. Then change your password.`,
    ]
    return letterTo(parts, user, { email, subject: 'A new email for your Countersign account', paragraphs })
  },
}

function whenOf({ defaultTimeZone }: MailParts, { timeZone }: UserAccount, at: number): string {
  return momentIn(timeZone ?? defaultTimeZone, at)
}

function otherThan(principalId: number, { by, byId }: Pick<EmailMove, 'by' | 'byId'>): string {
  return byId === principalId ? '' : ` by ${byId === null ? 'an operator' : by}`
}

function letterTo(
  { publicUrl }: MailParts,
  { id: principalId, userName }: UserAccount,
  { email, subject, paragraphs }: { email: string; subject: string; paragraphs: readonly string[] },
): WrittenMail {
  const page = { link: `${publicUrl()}/account`, label: 'My account' }
  const reason = `You get this mail because it is about the security of your account at ${new URL(publicUrl()).host}.`
  const blocks = [`Hello ${userName},`, ...paragraphs, page]
  return { principalId, email, message: { subject, blocks, reason } }
}
