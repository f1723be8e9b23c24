import { timingSafeEqual } from 'node:crypto'
import type { Challenge } from '../../../caller/touch.ts'
import { clockDifferenceMilliseconds } from '../../../clock.ts'
import { keyedHash, newOpaqueId } from '../../../ids.ts'

/** The purpose of a touch. A decision is signed over another kind of challenge: the root of a tree. */
export type Purpose = 'enrolment' | 'sign-in' | 'confirmation'

/** Who may answer a challenge: nobody is known before a sign-in. */
export type Answerer = { principalId: number; signInId: string } | null

export const challengeLifetimeMilliseconds = 5 * 60_000

const pattern = /^countersign:([a-z-]+):(\d{13})\.([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/

/**
 * Makes and reads challenges (WebAuthn Level 3 §13.4.3): ASCII text with a purpose, a time, a nonce and a tag
 * over these and the answerer. Nothing is stored before a challenge is used. The text is never 32 bytes long,
 * so a touch for one of these purposes never signs the root of a decision. The key of the tag is derived
 * from a secret that every instance has.
 */
export class Challenges {
  readonly #hash: (text: string) => string

  constructor(secret: Buffer) {
    this.#hash = keyedHash(secret, 'passkey challenge')
  }

  /** Base64url of the text, as in the options of a ceremony. */
  make(purpose: Purpose, answerer: Answerer, nowMilliseconds: number): string {
    const content = `countersign:${purpose}:${String(nowMilliseconds).padStart(13, '0')}.${newOpaqueId()}`
    return Buffer.from(`${content}.${this.#tag(content, answerer)}`).toString('base64url')
  }

  /** Undefined if it was made for anything or anybody else, elsewhere, or more than five minutes ago. */
  read(
    challenge: string,
    purpose: Purpose,
    answerer: Answerer,
    nowMilliseconds: number,
  ): Challenge | undefined {
    const text = Buffer.from(challenge, 'base64url').toString('latin1')
    const [, itsPurpose, time = '', nonce = '', tag = ''] = pattern.exec(text) ?? []
    if (itsPurpose !== purpose) return undefined
    const expected = this.#tag(text.slice(0, -tag.length - 1), answerer)
    if (!timingSafeEqual(Buffer.from(tag), Buffer.from(expected))) return undefined
    const madeAt = Number(time)
    const expiresAt = madeAt + challengeLifetimeMilliseconds
    const isOfNow = expiresAt > nowMilliseconds && madeAt <= nowMilliseconds + clockDifferenceMilliseconds
    return isOfNow ? { nonce, expiresAt } : undefined
  }

  #tag(content: string, answerer: Answerer): string {
    const whose = answerer === null ? '' : `${answerer.principalId}.${answerer.signInId}`
    return this.#hash(`${content}\n${whose}`)
  }
}
