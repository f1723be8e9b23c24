import type { FastifyRequest } from 'fastify'
import { stampOf } from '../../caller/stamp.ts'
import { noContent } from '../../http/fields.ts'
import { callerOf, type Routes, route } from '../../http/route.ts'
import { newSecret, sha256 } from '../../ids.ts'
import { Problem } from '../../problems/problems.ts'
import { findLinkHolder, type LinkHolder } from '../accounts/users/store.ts'
import { hashNewPassword } from '../credentials/passwords/judge.ts'
import { type AuthParts, confirmHolder, logEvent } from '../login.ts'
import { presentedSignIn } from './administration/requests.ts'
import {
  ChangeEmailCommand,
  CheckLinkCommand,
  givenAgain,
  RequestLinkCommand,
  UseEmailLinkCommand,
  UseLinkCommand,
} from './schemas.ts'

export const linkRoutes: Routes<AuthParts> = {
  requestLink: route('POST /v1/auth/links', {
    summary: 'Ask for a link to set a forgotten password',
    description:
      'The link is mailed to the address if an enabled account has it and signs in by password; at most three times an hour. An account with a passkey, or without a password, is mailed how to sign in. The answer is the same for every address.',
    access: 'public',
    limit: 'exchange',
    problems: ['mail-unavailable'],
    body: RequestLinkCommand,
    handler: async ({ config, db, clock }, request) => {
      if (config.smtpUrl === undefined) throw new Problem('mail-unavailable')
      await db.write('requestLink', { ...request.body, nowMilliseconds: clock() })
    },
  }),
  /** The one-time link by which a user sets a first password, or a new one after forgetting it. */
  useLink: route('POST /v1/auth/links/use', {
    summary: 'Set the password by a one-time link',
    description:
      'Works once, for 24 hours or until a newer link is made. A link that was used, has expired or was replaced gets the same answer as an unknown one. Ends all sessions and token families of the user, who can then sign in. A password that breaks the rules does not use the link up.',
    access: 'public',
    limit: 'exchange',
    problems: ['link-not-found'],
    body: UseLinkCommand,
    handler: async (parts, request) => {
      const now = parts.clock()
      const { token, newPassword, ...others } = request.body
      const tokenHash = sha256(token)
      const link = { tokenHash, purpose: 'password', nowMilliseconds: now } as const
      const { principalId: id, userName, email } = await requireHolder(parts, request, link)
      const passwordHash = await hashNewPassword(parts, newPassword, [userName, email])
      await parts.change('useLink', {
        ...others,
        tokenHash,
        passwordHash,
        stamp: stampOf({ id, userName }, now, null),
      })
      logEvent(request, 'link-used', { principalId: id })
    },
  }),
  checkLink: route('POST /v1/auth/links/check', {
    summary: 'Check whether a one-time link works',
    description:
      'For the page that a link leads to, before it asks for a password or a passkey: links of both kinds, for a password and for a new email. The link stays as it is.',
    access: 'public',
    limit: 'exchange',
    problems: ['link-not-found'],
    body: CheckLinkCommand,
    handler: async (parts, request) => {
      const link = { tokenHash: sha256(request.body.token), nowMilliseconds: parts.clock() }
      const other = await findLinkHolder(parts.db.read, { ...link, purpose: 'email' })
      if (other === undefined) await requireHolder(parts, request, { ...link, purpose: 'password' })
    },
  }),
  changeEmail: route('PUT /v1/auth/email', {
    summary: "Ask for another email of the caller's account",
    description:
      'A link is mailed to the new address, and at the same time a warning to the old one; at most three times an hour. It voids the previous link; beyond that limit only one to another address. The email changes when the link is confirmed, and the old address is mailed once more. The answer is the same whether or not another account has the address.',
    access: 'person',
    needsRecentSignIn: true,
    problems: ['mail-unavailable'],
    body: ChangeEmailCommand,
    response: { 202: noContent },
    handler: async ({ config, db, clock }, request, reply) => {
      if (config.smtpUrl === undefined) throw new Problem('mail-unavailable')
      const { id: signInId } = presentedSignIn(request)
      const stamp = stampOf(callerOf(request), clock(), null)
      await db.write('requestEmail', { ...request.body, tokenHash: sha256(newSecret()), signInId, stamp })
      return reply.code(202).send(undefined)
    },
  }),
  useEmailLink: route('POST /v1/auth/email/use', {
    summary: 'Confirm a new email by a one-time link',
    description:
      'Takes the password of the account, or what a passkey of it made of the options of a sign-in. A failure counts as a failed sign-in, and does not use the link up. Works once, for 24 hours, until a newer request, and until the sign-in that asked or all others are ended, a passkey is removed, a password is set, or the account is disabled. A link that does not work gets the same answer as an unknown one. Sessions and token families continue. Links that were mailed to the old address end.',
    access: 'public',
    limit: 'exchange',
    problems: [
      'link-not-found',
      'email-taken',
      'wrong-password',
      'passkey-counter',
      'too-many-attempts',
      'passkeys-unavailable',
    ],
    body: UseEmailLinkCommand,
    handler: async (parts, request) => {
      const { token, ...given } = request.body
      const tokenHash = sha256(token)
      const link = { tokenHash, purpose: 'email', nowMilliseconds: parts.clock() } as const
      const holder = await requireHolder(parts, request, link)
      const { principalId, userName } = holder
      await confirmHolder(parts, request, holder, givenAgain(given), (checked) => {
        const { credentialsChangedAt, passwordHash, touch } = checked
        const stamp = stampOf({ id: principalId, userName }, parts.clock(), null)
        const proof = { principalId, credentialsChangedAt, passwordHash, touch }
        return parts.change('useEmailLink', { ...proof, tokenHash, stamp })
      })
      logEvent(request, 'link-used', { principalId })
    },
  }),
}

export async function requireHolder(
  { db }: Pick<AuthParts, 'db'>,
  request: FastifyRequest,
  link: Parameters<typeof findLinkHolder>[1],
): Promise<LinkHolder> {
  const holder = await findLinkHolder(db.read, link)
  if (holder !== undefined) return holder
  // A guess cannot succeed, but is worth a line in the log (ASVS 5.0 16.3.3).
  logEvent(request, 'link-refused')
  throw new Problem('link-not-found')
}
