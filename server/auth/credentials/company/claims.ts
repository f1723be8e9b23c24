import { clockDifferenceMilliseconds } from '../../../clock.ts'
import { Fault } from '../../../http/fields.ts'
import { legibleText } from '../../../http/text.ts'
import type { CompanySettings } from '../../../setting.ts'
import { isAccountName, normalizeEmail } from '../../accounts/names.ts'
import { CompanyFailure } from './failure.ts'

export type Claims = Record<string, unknown>

/** A company account, as a write knows it. */
export interface CompanyIdentity {
  issuer: string
  subject: string
  /** The session at the provider. */
  sid: string | null
  /** When its owner last gave a credential there, in milliseconds; 0 if the provider does not say. */
  authenticatedAt: number
  /** Null without one that a new account may have. */
  email: string | null
  userName: string
  fullName: string | null
  /** Those that the claim gives; null if no role follows a claim. */
  roles: string[] | null
  /** The claim of the roles, if the provider did not send it. */
  missingClaim: string | null
}

/** Claims that are needed and that the ID token does not have: some providers send them as user info only. */
export function missingClaims(claims: Claims, { createsAccounts, roles }: CompanySettings): string[] {
  const ofAccounts = ['email', 'email_verified', 'preferred_username', 'name']
  // An email and whether it is verified come from one place.
  const accounts = createsAccounts && claims.email === undefined ? ofAccounts : []
  const role = roles !== undefined && !isAmongClaims(claims, roles.claim) ? [roles.claim] : []
  return [...accounts, ...role]
}

/** Whether both engines store a subject or a `sid` as it is. */
export const isName = (value: unknown): value is string =>
  typeof value === 'string' && /^\P{C}{1,255}$/u.test(value)

const isAmongClaims = (claims: Claims, name: string) => Object.hasOwn(claims, name)

export function identityOf(claims: Claims, settings: CompanySettings, now: number): CompanyIdentity {
  const { sub, sid, auth_time: authTime } = claims
  if (!isName(sub)) throw new CompanyFailure('company-answer-invalid', 'the claim sub is missing, or no name')
  const authenticatedAt = typeof authTime === 'number' ? Math.max(0, Math.floor(authTime * 1000)) : 0
  if (authenticatedAt > now + clockDifferenceMilliseconds) {
    throw new CompanyFailure('company-answer-invalid', 'the clocks differ: auth_time is in the future')
  }
  return {
    issuer: settings.issuer,
    subject: sub,
    sid: isName(sid) ? sid : null,
    authenticatedAt,
    email: usableEmail(claims, settings),
    userName: userNameOf(claims),
    fullName: textOr(printedName.read(claims.name), null),
    roles: rolesOf(claims, settings),
    missingClaim: claims[settings.roles?.claim ?? ''] === undefined ? (settings.roles?.claim ?? null) : null,
  }
}

/** An unverified email could be anybody's. */
function usableEmail(
  { email, email_verified: isVerified }: Claims,
  { trustsEmail }: CompanySettings,
): string | null {
  if (typeof email !== 'string' || isVerified === false || isVerified === 'false') return null
  return isVerified === true || trustsEmail ? (normalizeEmail(email) ?? null) : null
}

const printedName = legibleText(100, '', '')
const textOr = (value: string | Fault, other: string | null) => (value instanceof Fault ? other : value)

/** Made to fit: without what follows an `@`, and without characters that no user name has. */
function userNameOf({ preferred_username: preferred, email }: Claims): string {
  const given = String(typeof preferred === 'string' && preferred !== '' ? preferred : (email ?? ''))
  const [local = ''] = given.normalize('NFKD').split('@')
  const fitting = local
    .replaceAll(/[^A-Za-z0-9._-]/g, '')
    .replace(/^[^A-Za-z]+/, '')
    .slice(0, 50)
  const isReserved = /^(?:me|person-\d*)$/i.test(fitting)
  return isAccountName(fitting) && !isReserved ? fitting : 'user'
}

/**
 * An absent claim gives no role, because many providers leave an empty one out. One that the provider holds
 * back because it is too long (`_claim_names`, OpenID Connect Core 1.0 §5.6.2) says nothing, so it may not
 * take roles away.
 */
function rolesOf(claims: Claims, { roles }: CompanySettings): string[] | null {
  if (roles === undefined) return null
  const { [roles.claim]: given, _claim_names: elsewhere } = claims
  if (given === undefined && Object.hasOwn(Object(elsewhere), roles.claim)) {
    throw new CompanyFailure('company-answer-invalid', `the claim ${roles.claim} has too many values`)
  }
  const values = [given ?? []].flat().filter((value) => typeof value === 'string')
  const held = roles.roles.filter(([value]) => values.includes(value)).map(([, role]) => role)
  return [...new Set(held)].sort()
}
