/** Links that are mailed. Each is made when its mail is written, so no queue and no table holds its token. */
import type { SealedEvent } from '../../audit/audit.ts'
import type { Trx } from '../../db/tables.ts'
import { newSecret, sha256 } from '../../ids.ts'
import { countSent, isQueued, type MailKind, momentIn, queueMail, takeRecipients } from '../../mail/mail.ts'
import { anAdministrator } from '../accounts/roles/administrators.ts'
import { lockAccount } from '../accounts/store.ts'
import { linkAddress, linkEnd } from '../accounts/users/links.ts'
import {
  findEnabledByEmail,
  findLink,
  findUser,
  type NewLink,
  replaceLink,
  type UserAccount,
} from '../accounts/users/store.ts'
import { hasPasskey } from './passkeys/store.ts'

type LinkName = 'forgotten' | 'sent' | 'email'

interface Surroundings {
  nowMilliseconds: number
  publicUrl: string
  defaultTimeZone: string
}

/** A mail with one link, which stands between the two texts. */
interface Letter {
  /** Null if the account may get none: then it is mailed how to sign in. */
  link: Omit<NewLink, 'principalId' | 'kind' | 'tokenHash'> | null
  email: string
  subject: string
  before: string[]
  label: string
  after: string[]
  reason: string
}

interface LinkKind {
  /** The name of its mail. */
  mail: string
  page: '/link' | '/new-email'
  follow?(event: SealedEvent): number[]
  /** Undefined if there is nothing to send any more. */
  write(trx: Trx, user: UserAccount, around: Surroundings): Promise<Letter | undefined>
}

/** How many of these mails an account gets in an hour. */
const mailsAnHour = 3

const ignore = 'If you did not ask for this, you can ignore it.'

const kinds: Record<LinkName, LinkKind> = {
  /** For a user who has forgotten the password. It voids none that an administrator made. */
  forgotten: {
    mail: 'forgotten-password',
    page: '/link',
    async write(trx, user, { nowMilliseconds, publicUrl }) {
      const { id: principalId, email } = user
      const sent = await countSent(trx, { kind: kinds.forgotten.mail, principalId, nowMilliseconds })
      if (sent >= mailsAnHour) return undefined
      const isByPasskey = await hasPasskey(trx, principalId, null)
      const after = [`${ignore} Your account is unchanged.`]
      const reason = `You get this mail because someone entered this address under “Forgot your password?” at ${new URL(publicUrl).host}.`
      if (user.hasPassword && !isByPasskey) {
        return {
          link: { expiresAt: linkEnd(nowMilliseconds) },
          email,
          subject: 'Set a new password for Countersign',
          before: ['You can set a new password for Countersign. The link works once, within 24 hours.'],
          label: 'Set a new password',
          after,
          reason,
        }
      }
      const [how, when] = wayIn({ isByPasskey, ...user })
      const before = [how, `${when}, ask ${await anAdministrator(trx)}.`]
      const subject = 'How to sign in to Countersign'
      return { link: null, email, subject, before, label: 'Sign in', after, reason }
    },
  },

  /**
   * A second link, next to one that was shown to an administrator and still works. An account with a passkey
   * gets none, because no mailed link replaces a passkey.
   */
  sent: {
    mail: 'link',
    page: '/link',
    follow: ({ kind, subject_id }) => (kind === 'link-made' ? [Number(subject_id)] : []),
    async write(trx, user, { nowMilliseconds, publicUrl, defaultTimeZone }) {
      const { id: principalId, email, timeZone, hasPassword } = user
      const link = await findLink(trx, { principalId, kind: 'shown', nowMilliseconds })
      if (link === undefined || (await hasPasskey(trx, principalId, null))) return undefined
      const { expiresAt, askedById } = link
      const maker = askedById && (await findUser(trx, askedById))?.userName
      const madeBy = maker || 'an administrator'
      const { host } = new URL(publicUrl)
      const until = momentIn(timeZone ?? defaultTimeZone, expiresAt)
      const [subject, what, label] = hasPassword
        ? [
            'Set a new password for Countersign',
            `${madeBy} made a link for you to set a new password.`,
            'Set a new password',
          ]
        : [
            'Your account at Countersign',
            `${madeBy} invited you to Countersign, at ${host}. Set a password to begin.`,
            'Set your password',
          ]
      const before = [what, `The link works once, until ${until}.`]
      const reason = `You get this mail because ${madeBy} made a link for your account at ${host}.`
      return { link, email, subject, before, label, after: [], reason }
    },
  },

  /** Goes to the new email of an account (new-email.ts). */
  email: {
    mail: 'new-email',
    page: '/new-email',
    async write(trx, { id: principalId, userName }, { nowMilliseconds, publicUrl }) {
      const asked = await findLink(trx, { principalId, kind: 'email', nowMilliseconds })
      if (!asked?.newEmail) return undefined
      return {
        link: { ...asked, expiresAt: linkEnd(nowMilliseconds) },
        email: asked.newEmail,
        subject: 'Confirm your new email for Countersign',
        before: [
          'Confirm that this is the new email of your account, with your password or a passkey. The link works once, within 24 hours.',
        ],
        label: 'Confirm the email',
        after: [`${ignore} Nothing changes until it is confirmed.`],
        reason: `You get this mail because ${userName} entered this address under “My account” at ${new URL(publicUrl).host}.`,
      }
    },
  },
}

/** How somebody without a password signs in, and when to ask an administrator. */
function wayIn(account: { isByPasskey: boolean; hasCompanyAccount: boolean }): [how: string, when: string] {
  if (account.isByPasskey) {
    return [
      'Your account signs in with a passkey, so no link can be mailed to you. Choose “Use a passkey” on the sign-in page.',
      'If you have lost your passkey',
    ]
  }
  return account.hasCompanyAccount
    ? [
        'Your account has no password: you sign in with your company account, by its button on the sign-in page.',
        'If that does not work',
      ]
    : ['Your account has no password yet. It needs the link of an invitation.', 'For a new one']
}

/** An address that somebody entered: no mail, because perhaps no account has it. */
const requested = 'link-requested'
/** How many of them may wait. */
const waitingLimit = 10_000
const requestsOfBatch = 500

/** Queues the address, whether or not an account has it: so nobody can see the difference. */
export function requestLink(trx: Trx, input: { email: string; nowMilliseconds: number }): Promise<void> {
  const { email: recipient, nowMilliseconds } = input
  return queueMail(trx, { kind: requested, recipient, nowMilliseconds, atMost: waitingLimit })
}

/**
 * Queues mail for those of the next requested addresses that an enabled account has, and forgets the others,
 * so that strangers' requests wait in no line of others. Returns whether there may be more.
 */
export async function sortRequests(
  trx: Trx,
  { nowMilliseconds }: { nowMilliseconds: number },
): Promise<boolean> {
  const emails = await takeRecipients(trx, { kind: requested, limit: requestsOfBatch })
  for (const id of await findEnabledByEmail(trx, emails)) {
    await queueMail(trx, { kind: kinds.forgotten.mail, recipient: String(id), nowMilliseconds })
  }
  return emails.length === requestsOfBatch
}

export interface MakeMailedLinkInput extends Surroundings {
  kind: LinkName
  principalId: number
  tokenHash: string
}

/** Makes the link of a mail to an enabled account. It voids the previous one of its kind. */
export async function makeMailedLink(
  trx: Trx,
  { kind, principalId, tokenHash, ...around }: MakeMailedLinkInput,
): Promise<(Letter & { userName: string }) | undefined> {
  if ((await lockAccount(trx, principalId)) === undefined) return undefined
  const user = await findUser(trx, principalId)
  const letter = user && (await kinds[kind].write(trx, user, around))
  if (user === undefined || letter === undefined) return undefined
  if (letter.link !== null) await replaceLink(trx, { ...letter.link, principalId, kind, tokenHash })
  return { ...letter, userName: user.userName }
}

function mailOf(kind: LinkName): MailKind {
  const { mail: name, page, follow } = kinds[kind]
  return {
    name,
    ...(follow && {
      follow: async (_trx, events) => new Map(events.map((event) => [event.sequence, follow(event)])),
    }),
    async write({ db, clock, publicUrl: urlNow, defaultTimeZone }, { recipient }) {
      const [principalId, token, publicUrl] = [Number(recipient), newSecret(), urlNow()]
      const around = { nowMilliseconds: clock(), publicUrl, defaultTimeZone }
      const input = { kind, principalId, tokenHash: sha256(token), ...around }
      const letter = await db.write('makeMailedLink', input)
      if (letter === undefined) return undefined
      const { link: oneTime, email, userName, subject, before, label, after, reason } = letter
      const link = oneTime ? linkAddress(publicUrl, { token, email }, page) : `${publicUrl}/sign-in`
      const blocks = [`Hello ${userName},`, ...before, { link, label }, ...after]
      return { principalId, email, message: { subject, blocks, reason } }
    },
  }
}

export const forgottenPassword: MailKind = {
  ...mailOf('forgotten'),
  async queue({ db, clock }) {
    if (!(await isQueued(db.read, requested))) return false
    return db.write('sortRequests', { nowMilliseconds: clock() })
  },
}

export const sentLink = mailOf('sent')
/** It waits for nothing, but while one is on its way another request can name another address. */
export const newEmail = { ...mailOf('email'), gatherMilliseconds: 0 }
