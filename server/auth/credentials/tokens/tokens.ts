/** Access tokens, which are signed and not stored, and families of refresh tokens, each one row. */
import type { JWTPayload } from 'jose'
import { createLocalJWKSet } from 'jose/jwks/local'
import { SignJWT } from 'jose/jwt/sign'
import { jwtVerify } from 'jose/jwt/verify'
import type { SignIn } from '../../../caller/principal.ts'
import { type Clock, secondOf } from '../../../clock.ts'
import { Latest } from '../../../db/latest.ts'
import { newOpaqueId } from '../../../ids.ts'
import type { SigningKeys } from './keys.ts'

/** RFC 9068. */
const tokenType = 'at+jwt'
const clockToleranceSeconds = 5
/** `client_id` in the tokens of people. */
const userClientId = 'countersign'
const verifiedTokensLimit = 10_000

export interface TokenSubject {
  /** Decimal id of a user, or the clientId of a service. */
  subject: string
  userName: string
  roles: readonly string[]
  /** Null for a service. */
  signIn: SignIn | null
  /**
   * When the credentials of the account last changed, in milliseconds: the next change ends the token. Read
   * together with the roles, or before them.
   */
  credentialsChangedAt: number
}

export interface IssuedToken {
  token: string
  /** In milliseconds; equals the claim `exp`. */
  expiresAt: number
}

export interface VerifiedToken extends TokenSubject {
  issuedAtSeconds: number
  expiresAtSeconds: number
}

export class AccessTokens {
  readonly #keys: SigningKeys
  readonly #issuer: () => string
  readonly #clock: Clock
  readonly #publishedKeys: ReturnType<typeof createLocalJWKSet>
  /**
   * Tokens whose signature has been verified: verifying costs 0.25 ms of a core, a look-up 0.7 µs. Revocation
   * is always checked separately (authenticate.ts).
   */
  readonly #verified = new Latest<VerifiedToken>(verifiedTokensLimit)

  /** `issuer` is the public address, which is the `iss` and `aud` of every token. */
  constructor(keys: SigningKeys, issuer: () => string, clock: Clock) {
    this.#keys = keys
    this.#issuer = issuer
    this.#clock = clock
    this.#publishedKeys = createLocalJWKSet(keys.jwks)
  }

  /**
   * Signs an access token (RFC 9068 §2.2). `credentials_changed_at` is our own claim, in milliseconds.
   */
  async issue(subject: TokenSubject, ttlSeconds: number, nowMilliseconds: number): Promise<IssuedToken> {
    const issuedAtSeconds = secondOf(nowMilliseconds)
    const expiresAtSeconds = issuedAtSeconds + ttlSeconds
    const token = await new SignJWT({
      client_id: subject.signIn === null ? subject.subject : userClientId,
      roles: subject.roles,
      preferred_username: subject.userName,
      credentials_changed_at: subject.credentialsChangedAt,
      ...claimsOf(subject.signIn),
    })
      .setProtectedHeader({ alg: this.#keys.algorithm, kid: this.#keys.kid, typ: tokenType })
      .setIssuer(this.#issuer())
      .setAudience(this.#issuer())
      .setSubject(subject.subject)
      .setIssuedAt(issuedAtSeconds)
      .setExpirationTime(expiresAtSeconds)
      .setJti(newOpaqueId())
      .sign(this.#keys.privateKey)
    return { token, expiresAt: expiresAtSeconds * 1000 }
  }

  /** Undefined unless the token is ours and valid now. Does not check revocation (authenticate.ts does). */
  async verify(token: string): Promise<VerifiedToken | undefined> {
    const nowSeconds = this.#clock() / 1000
    const known = this.#verified.get(token)
    if (known !== undefined) {
      if (isCurrent(known, nowSeconds)) return known
      this.#verified.delete(token)
      return undefined
    }
    const verified = await this.#verifySignature(token)
    if (verified === undefined || !isCurrent(verified, nowSeconds)) return undefined
    this.#verified.set(token, verified)
    return verified
  }

  /** The algorithm comes from the key (each published key names it); `jku`, `jwk` and `x5u` are ignored. */
  async #verifySignature(token: string): Promise<VerifiedToken | undefined> {
    if (!isCanonical(token)) return undefined
    try {
      const { payload, protectedHeader } = await jwtVerify(token, this.#publishedKeys, {
        algorithms: [this.#keys.algorithm],
        typ: tokenType,
        issuer: this.#issuer(),
        audience: this.#issuer(),
        requiredClaims: ['exp', 'iat', 'sub', 'aud', 'iss'],
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(this.#clock()),
      })
      const { sub, iat, exp, roles, preferred_username: userName } = payload
      const { credentials_changed_at: credentialsChangedAt } = payload
      const signIn = signInOf(payload)
      const isComplete =
        typeof protectedHeader.kid === 'string' &&
        typeof sub === 'string' &&
        sub !== '' &&
        isWhole(iat) &&
        isWhole(exp) &&
        typeof userName === 'string' &&
        typeof credentialsChangedAt === 'number' &&
        Array.isArray(roles) &&
        roles.every((role) => typeof role === 'string')
      if (!isComplete) return undefined
      return {
        subject: sub,
        userName,
        roles,
        signIn,
        credentialsChangedAt,
        issuedAtSeconds: iat,
        expiresAtSeconds: exp,
      }
    } catch {
      return undefined
    }
  }
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value)

/**
 * The claims about a sign-in: its id, and when the password was given, in whole seconds (RFC 9068 §2.2.1,
 * OpenID Connect Core §2).
 */
function claimsOf(signIn: SignIn | null): JWTPayload {
  return signIn === null ? {} : { auth_time: secondOf(signIn.authenticatedAt), sid: signIn.id }
}

function signInOf({ auth_time: seconds, sid: id }: JWTPayload): SignIn | null {
  if (typeof id !== 'string' || typeof seconds !== 'number') return null
  return { id, authenticatedAt: seconds * 1000 }
}

/** A token has one spelling: three parts of base64url without padding or stray bits (RFC 4648 §3.5). */
function isCanonical(token: string): boolean {
  const parts = token.split('.')
  return (
    parts.length === 3 && parts.every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)
  )
}

function isCurrent(token: VerifiedToken, nowSeconds: number): boolean {
  return (
    nowSeconds < token.expiresAtSeconds + clockToleranceSeconds &&
    token.issuedAtSeconds <= nowSeconds + clockToleranceSeconds
  )
}
