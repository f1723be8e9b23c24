import { timingSafeEqual } from 'node:crypto'
import { type DecisionStatement, readStatement, spellStatement } from '../../proof/decision.ts'
import { formatInstant } from '../clock.ts'
import { keyedHash } from '../ids.ts'

type Facts = Omit<DecisionStatement, 'typ' | 'nonce' | 'until'>

export const statementLifetimeMilliseconds = 5 * 60_000

/**
 * Makes the statements that people sign, and knows them again without storing any: the nonce is a tag over
 * the rest, so nobody can prepare statements for later. The key of the tag is derived from a secret that
 * every instance has.
 */
export class Statements {
  readonly #hash: (text: string) => string

  constructor(secret: Buffer) {
    this.#hash = keyedHash(secret, 'decision statement')
  }

  make(facts: Facts, nowMilliseconds: number): string {
    const until = formatInstant(nowMilliseconds + statementLifetimeMilliseconds)
    const statement = { ...facts, typ: 'countersign-decision', nonce: '', until } as const
    return spellStatement({ ...statement, nonce: this.#tag(statement) })
  }

  /** Undefined unless it was made by this service. It may have expired. */
  read(text: string): DecisionStatement | undefined {
    try {
      const statement = readStatement(text)
      const expected = Buffer.from(this.#tag(statement))
      const given = Buffer.from(String(statement.nonce))
      return given.length === expected.length && timingSafeEqual(given, expected) ? statement : undefined
    } catch {
      return undefined
    }
  }

  #tag(statement: DecisionStatement): string {
    return this.#hash(spellStatement({ ...statement, nonce: '' }))
  }
}
