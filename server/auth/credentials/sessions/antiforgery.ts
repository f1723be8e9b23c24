import { createHmac, timingSafeEqual } from 'node:crypto'
import { newOpaqueId } from '../../../ids.ts'

const tokenPattern = /^[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}$/

/**
 * Stateless antiforgery tokens: `nonce.HMAC-SHA256(key, binding, nonce)`. Every instance that has the key
 * accepts them. The binding belongs to the session; before the sign-in, to the antiforgery cookie.
 */
export class Antiforgery {
  readonly #key: Buffer

  constructor(key: Buffer) {
    this.#key = key
  }

  issue(binding: string): string {
    const nonce = newOpaqueId()
    return `${nonce}.${this.#sign(binding, nonce)}`
  }

  /**
   * Compares in constant time (ASVS 5.0 11.2.4), and as text, because base64url decoding ignores the last two
   * bits.
   */
  isValid(binding: string, token: string): boolean {
    if (!tokenPattern.test(token)) return false
    const nonce = token.slice(0, 22)
    return timingSafeEqual(Buffer.from(this.#sign(binding, nonce)), Buffer.from(token.slice(23)))
  }

  /** Neither part can contain the separator, so two different pairs never give the same text. */
  #sign(binding: string, nonce: string): string {
    return createHmac('sha256', this.#key).update(`${binding}.${nonce}`).digest('base64url')
  }
}
