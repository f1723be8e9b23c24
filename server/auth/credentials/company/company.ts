/**
 * Accounts of the company (OpenID Connect): a user signs in by the one that is linked to theirs. It is known
 * by its issuer and subject, never by an email or a name. Nothing of the provider's tokens is stored.
 */
import { partOf } from '../../../audit/audit.ts'
import type { Stamp } from '../../../caller/stamp.ts'
import { requireStanding } from '../../../caller/standing.ts'
import { type Challenge, giveChallengeBack, takeChallenge } from '../../../caller/touch.ts'
import type { Trx } from '../../../db/tables.ts'
import type { ProblemCode } from '../../../problems/catalogue.ts'
import { Problem } from '../../../problems/problems.ts'
import { recordChange } from '../../accounts/accounts.ts'
import { awaitAdministration } from '../../accounts/roles/administrators.ts'
import {
  deleteRoles,
  endUnbackedLinks,
  hasAdministrator,
  insertRoles,
  roleNames,
  rolesOf,
  takeRolesFromSessions,
} from '../../accounts/roles/store.ts'
import {
  deleteCompanyAccount,
  endRequests,
  findAccount,
  foldName,
  lockAccount,
  lockVersion,
  updateCredentialsDate,
} from '../../accounts/store.ts'
import { hasNoCredential } from '../../accounts/users/links.ts'
import { findLinkHolder, findTaken, takeLink } from '../../accounts/users/store.ts'
import { addUser, givePassword, resetPassword } from '../../accounts/users/users.ts'
import { requireCredential } from '../passkeys/passkeys.ts'
import {
  endSession,
  findStandingSession,
  insertNewSession,
  isOver,
  type NewSession,
  type RefreshedSession,
  refreshSession,
} from '../sessions/store.ts'
import type { CompanyIdentity } from './claims.ts'
import {
  endCompanySessions,
  findCompanyUser,
  findLinkOf,
  findSessionsOf,
  insertCompanySession,
  insertLink,
  isRecent,
} from './store.ts'

type Refused = { refused: ProblemCode }

export interface EnterByCompanyInput {
  /** Makes the attempt work once. */
  attempt: Challenge
  identity: CompanyIdentity
  /** All roles that follow the claim. */
  claimRoles: readonly string[]
  createsAccounts: boolean
  /** The one-time link that is used up. */
  link: { principalId: number; tokenHash: string } | null
  session: Omit<NewSession, 'principalId'>
  /** It names the provider. */
  stamp: Stamp
}

export interface Entered {
  principalId: number
  userName: string
  email: string
  binding: string
  /** Roles that the claim takes away, and that the last administrator keeps. */
  keptRoles: string[]
}

/**
 * Signs in the user who is linked to the company account; by a one-time link, or as a new account, links it
 * first. Roles follow the claim. A refused attempt does not work again, but changes nothing else.
 */
export async function enterByCompany(trx: Trx, input: EnterByCompanyInput): Promise<Entered | Refused> {
  const { identity, session, link, claimRoles, createsAccounts, stamp } = input
  if (!(await takeAttempt(trx, input))) return { refused: 'company-attempt-invalid' }
  let linked = await findCompanyUser(trx, identity)
  const isNew = linked === undefined && link === null
  const mayChangeRoles = identity.roles !== null
  if (isNew || mayChangeRoles) {
    await awaitAdministration(trx)
    // Another sign-in may have made the user meanwhile.
    linked = await findCompanyUser(trx, identity)
  }
  const made =
    link !== null
      ? await linkByOneTimeLink(trx, { ...link, identity, stamp })
      : linked === undefined
        ? await makeUser(trx, { identity, createsAccounts, stamp })
        : linked
  if ('refused' in made) return made
  const { principalId, email } = made
  const account = await lockAccount(trx, principalId, session.nowMilliseconds)
  if (account === undefined) return { refused: 'account-disabled' }
  // Another sign-in or an administrator may have unlinked it meanwhile.
  if ((await findLinkOf(trx, principalId))?.subject !== identity.subject) {
    throw new Problem('company-account-unknown')
  }
  const keptRoles = mayChangeRoles ? await followClaim(trx, account, { identity, claimRoles, stamp }) : []
  const { binding } = await insertNewSession(trx, {
    ...session,
    principalId,
    credentialsEpoch: account.epoch,
    passkeyId: null,
    byCompany: true,
    authenticatedAt: identity.authenticatedAt,
  })
  await insertCompanySession(trx, { sessionId: session.sessionId, sid: identity.sid })
  return { principalId, userName: account.name, email, binding, keptRoles }
}

/**
 * Returns false if the attempt was used before, or its session at the provider has ended. On PostgreSQL a
 * logout at the same moment waits for this transaction, or this for the logout: only one has the mark.
 */
async function takeAttempt(
  trx: Trx,
  { attempt, identity: { issuer, sid } }: Pick<EnterByCompanyInput, 'attempt' | 'identity'>,
): Promise<boolean> {
  if (!(await takeChallenge(trx, attempt))) return false
  if (sid === null) return true
  const mark = { nonce: endOf({ issuer, sid }), expiresAt: attempt.expiresAt }
  const isOpen = await takeChallenge(trx, mark)
  if (isOpen) await giveChallengeBack(trx, mark)
  return isOpen
}

/** Candidates for the name of a new account: `jo`, `jo2`, `jo3` ... */
const namesLimit = 200

async function makeUser(
  trx: Trx,
  { identity, createsAccounts, stamp }: Pick<EnterByCompanyInput, 'identity' | 'createsAccounts' | 'stamp'>,
): Promise<{ principalId: number; email: string } | Refused> {
  if (!createsAccounts) return { refused: 'company-account-unknown' }
  const { email, fullName, userName: wanted } = identity
  if (email === null) return { refused: 'company-email-unusable' }
  if ((await findAccount(trx, { kind: 'user', email })) !== undefined)
    return { refused: 'company-email-taken' }
  const candidates = Array.from({ length: namesLimit }, (_, index) => wanted + (index === 0 ? '' : index + 1))
  const taken = await findTaken(
    trx,
    candidates.map((userName) => ({ email, userName })),
  )
  const userName = candidates.find((name) => !taken.names.has(foldName(name))) ?? wanted
  const user = { userName, email, fullName, passwordHash: null, timeZone: null, roles: [], stamp }
  const { id } = await addUser(trx, user)
  await addLink(trx, { principalId: id, identity, stamp: partOf(stamp, 1) })
  return { principalId: id, email }
}

/**
 * Links the company account, and ends every other credential as a new password would, because the link is for
 * people who have lost theirs. A link that was mailed leaves passkeys alone.
 */
async function linkByOneTimeLink(
  trx: Trx,
  {
    principalId,
    tokenHash,
    identity,
    stamp,
  }: { principalId: number; tokenHash: string } & Pick<EnterByCompanyInput, 'identity' | 'stamp'>,
): Promise<{ principalId: number; email: string } | Refused> {
  const { nowMilliseconds } = stamp
  const account = await lockAccount(trx, principalId)
  const purpose = { tokenHash, purpose: 'password', nowMilliseconds } as const
  const holder = await findLinkHolder(trx, purpose)
  if (account === undefined || holder?.principalId !== principalId) return { refused: 'link-not-found' }
  const owner = await findCompanyUser(trx, identity)
  if (owner !== undefined && owner.principalId !== principalId) return { refused: 'company-account-taken' }
  const link = await takeLink(trx, { principalId, ...purpose })
  if (link === undefined) return { refused: 'link-not-found' }
  const own = { ...stamp, by: account.name, byId: principalId }
  const none = { passwordHash: null, origin: { setBy: link.askedById ?? null } }
  const isFirst = await hasNoCredential(trx, principalId)
  const facts = { company: identity.issuer, ...(isFirst && { first: true as const }) }
  if (link.kind === 'shown') {
    const reset = await resetPassword(trx, principalId, none, own)
    if (reset.passkeys !== undefined) delete facts.first
    await recordChange(trx, own, 'link-used', account, { ...facts, ...reset })
  } else {
    await givePassword(trx, principalId, none, own)
    await deleteCompanyAccount(trx, principalId)
    await recordChange(trx, own, 'link-used', account, { ...facts, mailed: true })
  }
  await addLink(trx, { principalId, identity, stamp: partOf(own, 1) })
  return { principalId, email: holder.email }
}

/** Links the account, and records it. Throws `company-account-taken` if either was linked meanwhile. */
async function addLink(
  trx: Trx,
  { principalId, identity, stamp }: { principalId: number; identity: CompanyIdentity; stamp: Stamp },
): Promise<void> {
  const { issuer, subject } = identity
  const { nowMilliseconds } = stamp
  const isLinked = await insertLink(trx, { principalId, issuer, subject, nowMilliseconds })
  if (!isLinked) throw new Problem('company-account-taken')
  const facts = { company: issuer, companySubject: subject }
  await recordChange(trx, stamp, 'company-linked', { id: principalId }, facts)
}

/**
 * Gives the user exactly those roles of the provider that the claim has; roles that do not exist are left
 * out. Returns those that the claim takes away from the last administrator, who keeps them. Runs under the
 * lock of administration.
 */
async function followClaim(
  trx: Trx,
  account: { id: number; name: string },
  { identity, claimRoles, stamp }: Pick<EnterByCompanyInput, 'identity' | 'claimRoles' | 'stamp'>,
): Promise<string[]> {
  const { id } = account
  const known = await roleNames(trx)
  const wanted = (identity.roles ?? []).filter((role) => known.includes(role))
  const held = await rolesOf(trx, id)
  const surplus = held.filter((role) => claimRoles.includes(role) && !wanted.includes(role))
  const isManaged = await hasAdministrator(trx)
  const granted = await insertRoles(trx, id, wanted)
  const facts = { company: identity.issuer }
  if (granted.length > 0) {
    await recordChange(trx, partOf(stamp, 2), 'roles-granted', account, { roles: granted, ...facts })
  }
  const [revoked, kept]: [string[], string[]] = [[], []]
  for (const role of surplus) {
    await deleteRoles(trx, id, [role])
    const isNeeded = isManaged && !(await hasAdministrator(trx))
    if (isNeeded) await insertRoles(trx, id, [role])
    ;(isNeeded ? kept : revoked).push(role)
  }
  if (revoked.length === 0) return kept
  await updateCredentialsDate(trx, [id], stamp.nowMilliseconds)
  await takeRolesFromSessions(trx, id, revoked)
  await endUnbackedLinks(trx)
  await recordChange(trx, partOf(stamp, 3), 'roles-revoked', account, { roles: revoked, ...facts })
  return kept
}

/** The session in which somebody asked to link or to confirm. */
interface Asker {
  principalId: number
  sessionId: string
}

interface AskedInput {
  attempt: Challenge
  identity: CompanyIdentity
  asker: Asker
  /** The stamp names the asker, without their credential. */
  stamp: Stamp & { byId: number }
  sessionIdleTtlSeconds: number
}

/** Whether the session that asked still stands; undefined if it has ended. */
async function standingAsker(trx: Trx, { asker, stamp, sessionIdleTtlSeconds }: AskedInput) {
  const account = await lockAccount(trx, asker.principalId)
  const session = await findStandingSession(trx, asker.sessionId)
  const isStanding = session && !isOver(session, stamp.nowMilliseconds, { sessionIdleTtlSeconds })
  return isStanding ? account : undefined
}

/** Links the company account to that of a user whose sign-in is recent. */
export async function linkCompany(
  trx: Trx,
  input: AskedInput & { recentSince: number },
): Promise<{ linked: true } | Refused> {
  const { identity, asker, stamp, recentSince } = input
  if (!(await takeAttempt(trx, input))) return { refused: 'company-attempt-invalid' }
  const account = await standingAsker(trx, input)
  if (account === undefined) return { refused: 'authentication-required' }
  if (!(await isRecent(trx, asker.sessionId, recentSince))) return { refused: 'recent-sign-in-needed' }
  const owner = await findCompanyUser(trx, identity)
  if (owner?.principalId === account.id) return { linked: true }
  if (owner !== undefined) return { refused: 'company-account-taken' }
  if ((await findLinkOf(trx, account.id)) !== undefined) return { refused: 'company-account-linked' }
  await addLink(trx, { principalId: account.id, identity, stamp })
  return { linked: true }
}

/** Gives a session a new id that counts as recent: the provider has just asked for a credential. */
export async function confirmByCompany(
  trx: Trx,
  input: AskedInput & { newIdHash: string; retireAt: number },
): Promise<RefreshedSession | Refused> {
  const { identity, asker, stamp, newIdHash, retireAt } = input
  if (!(await takeAttempt(trx, input))) return { refused: 'company-attempt-invalid' }
  const account = await standingAsker(trx, input)
  if (account === undefined) return { refused: 'authentication-required' }
  const owner = await findCompanyUser(trx, identity)
  if (owner?.principalId !== account.id) return { refused: 'company-account-other' }
  return refreshSession(trx, {
    ...asker,
    presentedIdHash: null,
    newIdHash,
    authenticatedAt: identity.authenticatedAt,
    passkeyId: null,
    byCompany: true,
    nowMilliseconds: stamp.nowMilliseconds,
    isUse: true,
    retireAt,
  })
}

export interface UnlinkCompanyInput {
  principalId: number
  /** Where the service is reached; null at a command line, which may not know it. */
  rpId: string | null
  stamp: Stamp
}

/**
 * Unlinks the company account and ends the sessions that it began; `changed` is false if there was none.
 * Throws `last-credential`, `authentication-required`.
 */
export async function unlinkCompany(
  trx: Trx,
  { principalId, rpId, stamp }: UnlinkCompanyInput,
): Promise<{ changed: boolean; ended: string[] }> {
  await lockVersion(trx, 'user', principalId, null)
  await requireStanding(trx, stamp)
  const link = await findLinkOf(trx, principalId)
  if (link === undefined) return { changed: false, ended: [] }
  await deleteCompanyAccount(trx, principalId)
  await requireCredential(trx, principalId, { rpId, issuer: null })
  const ended = await endCompanySessions(trx, principalId)
  await endRequests(trx, [principalId])
  const facts = { company: link.issuer, companySubject: link.subject }
  await recordChange(trx, stamp, 'company-unlinked', { id: principalId }, facts)
  return { changed: true, ended }
}

export interface LogoutByCompanyInput {
  issuer: string
  subject: string | null
  sid: string | null
  challenge: Challenge
  /** When the attempts that are under way have ended. */
  attemptsEndAt: number
}

/** The mark of a session at the provider that has ended: no attempt that is under way works in it. */
const endOf = ({ issuer, sid }: { issuer: string; sid: string }) => `ended ${sid} ${issuer}`

/**
 * Ends what the provider says has ended: with a subject, everything that its account began; with a `sid`
 * alone, that session. Returns false if the token was used before.
 */
export async function logoutByCompany(
  trx: Trx,
  input: LogoutByCompanyInput,
): Promise<{ ended: number } | Refused> {
  const { issuer, subject, sid, challenge, attemptsEndAt } = input
  if (!(await takeChallenge(trx, challenge))) return { refused: 'logout-token-invalid' }
  if (sid !== null) await takeChallenge(trx, { nonce: endOf({ issuer, sid }), expiresAt: attemptsEndAt })
  if (subject !== null) {
    const user = await findCompanyUser(trx, { issuer, subject })
    if (user === undefined) return { ended: 0 }
    await lockAccount(trx, user.principalId)
    return { ended: (await endCompanySessions(trx, user.principalId)).length }
  }
  const sessions = await findSessionsOf(trx, { issuer, sid: sid ?? '' })
  for (const { id } of sessions) await endSession(trx, { sessionId: id })
  return { ended: sessions.length }
}
