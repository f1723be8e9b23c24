import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { clockDifferenceMilliseconds } from '../../../clock.ts'
import { derivedKey } from '../../../ids.ts'

/** The uses of a company account. */
export type CompanyPurpose = 'sign-in' | 'link' | 'confirmation' | 'one-time-link'

/** A way to the provider and back, as the browser keeps it. */
export interface Attempt {
  purpose: CompanyPurpose
  state: string
  nonce: string
  verifier: string
  /** A path of the web app. */
  returnTo: string
  startedAt: number
  /** To sign in: hash of the id of the session that ends, and the binding of the antiforgery cookie. */
  replacedIdHash: string | null
  offeredBinding: string | null
  /** To link or to confirm: who asked, in which session. */
  asker: { principalId: number; sessionId: string } | null
  /** With a one-time link: whose it is, and its hash. */
  link: { principalId: number; tokenHash: string } | null
}

export const attemptLifetimeSeconds = 600

const ivBytes = 12
const tagBytes = 16

/**
 * Seals attempts for a cookie (AES-256-GCM): nothing is stored, every instance can go on, and nobody can read
 * or change one. The key is derived from a secret that every instance has.
 */
export class Attempts {
  readonly #key: Buffer

  constructor(secret: Buffer) {
    this.#key = derivedKey(secret, 'company sign-in')
  }

  seal(attempt: Attempt): string {
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv)
    const sealed = [cipher.update(JSON.stringify(attempt), 'utf8'), cipher.final()]
    return Buffer.concat([iv, cipher.getAuthTag(), ...sealed]).toString('base64url')
  }

  /** Undefined if this service did not seal it, or more than ten minutes ago. */
  open(sealed: string, nowMilliseconds: number): Attempt | undefined {
    const bytes = Buffer.from(sealed, 'base64url')
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, ivBytes), {
        authTagLength: tagBytes,
      })
      decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
      const text = Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()])
      const attempt: Attempt = JSON.parse(text.toString())
      const age = nowMilliseconds - attempt.startedAt
      const isOfNow = age < attemptLifetimeSeconds * 1000 && age >= -clockDifferenceMilliseconds
      return isOfNow ? attempt : undefined
    } catch {
      return undefined
    }
  }
}

/**
 * Whether a text is a path of the web app, and no address of another site. Browsers read `\` as `/`, drop
 * tabs and line breaks, and go elsewhere for `//`.
 */
export function isPathOfApp(text: string): boolean {
  if (
    !/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(text) ||
    /%(?:5c|2f|0[0-9a-f])/i.test(text.split(/[?#]/)[0] ?? '')
  ) {
    return false
  }
  const { pathname } = new URL(text, 'https://app.invalid')
  return !/^\/(?:\/|v1\/)/.test(pathname)
}
