import { orderTransitions } from '../../../../client/src/facts.ts'
import { inBrowser, parsed } from '../../ui/persist.ts'
import type { Left } from './outbox.ts'

const prefix = 'decision.'

/**
 * The part of a decision that outlives its page, in this browser, until it is answered: whose it is, and what
 * to send. Each has its own name: no tab overwrites what another one keeps.
 */
export const leftInBrowser = {
  put: (left: Left) => inBrowser.write(prefix + left.decision.idempotencyKey, JSON.stringify(left)),
  drop: (key: string) => inBrowser.drop(prefix + key),
  all: (): Left[] =>
    inBrowser
      .names(prefix)
      .map((name) => parsed(inBrowser.read(name)))
      .filter(isLeft),
}

/** Another version of the app may have written it. */
function isLeft(value: unknown): value is Left {
  if (typeof value !== 'object' || value === null) return false
  const { action, decision, from, userId } = value as Partial<Left>
  const isDecision = typeof decision?.id === 'string' && typeof decision.idempotencyKey === 'string'
  return (
    isDecision &&
    action !== undefined &&
    action in orderTransitions &&
    Number.isFinite(from) &&
    userId !== undefined
  )
}
