import { randomBytes, timingSafeEqual } from 'node:crypto'
import { keyedHash, sha256 } from '../../../ids.ts'
import type { RefreshToken } from './store.ts'

/**
 * A token is 256 random bits, family and generation, followed by the tag of these three: 112 characters of
 * base64url. The secret part comes first: logs name families, and the tests search logs for the first
 * characters of tokens.
 */
const familyAt = 32
const generationAt = 48
const tagAt = 52
const tokenPattern = /^[A-Za-z0-9_-]{112}$/

/**
 * Makes and reads refresh tokens. The tag distinguishes an issued token from an invented one, so used tokens
 * need not be stored (ADR 26). Its key is derived from a secret that every instance has.
 */
export class RefreshTokens {
  readonly #tagOf: ReturnType<typeof keyedHash>
  readonly #successorOf: ReturnType<typeof keyedHash>

  constructor(secret: Buffer) {
    this.#tagOf = keyedHash(secret, 'refresh token tag')
    this.#successorOf = keyedHash(secret, 'refresh token successor')
  }

  /** The first token of a family, whose id comes from `newOpaqueId`. */
  first(familyId: string): string {
    return this.#make(familyId, 1, randomBytes(32))
  }

  /**
   * The token of the next generation. With a key it is the same each time, and only a caller that has both
   * the token and the key can know it; without a key it is different each time.
   */
  successor({ text, familyId, generation }: RefreshToken, key: string | null): string {
    const random =
      key === null ? randomBytes(32) : Buffer.from(this.#successorOf(`${text}\n${key}`), 'base64url')
    return this.#make(familyId, generation + 1, random)
  }

  /** Undefined if the text cannot be a refresh token. */
  read(text: string): RefreshToken | undefined {
    if (!tokenPattern.test(text)) return undefined
    const bytes = Buffer.from(text, 'base64url')
    return {
      text,
      hash: sha256(text),
      familyId: bytes.toString('base64url', familyAt, generationAt),
      generation: bytes.readUInt32BE(generationAt),
      isGenuine: timingSafeEqual(bytes.subarray(tagAt), this.#tag(bytes.subarray(0, tagAt))),
    }
  }

  #make(familyId: string, generation: number, random: Buffer): string {
    const content = Buffer.concat([random, Buffer.from(familyId, 'base64url'), Buffer.alloc(4)])
    content.writeUInt32BE(generation, generationAt)
    return Buffer.concat([content, this.#tag(content)]).toString('base64url')
  }

  #tag(content: Buffer): Buffer {
    return Buffer.from(this.#tagOf(content), 'base64url')
  }
}
