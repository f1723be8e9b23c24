import { deeds } from './actions.ts'
import type { Left } from './outbox.ts'

const prefix = 'countersign.decision.'

/**
 * What of a decision outlives its page, in this browser, until it is answered: whose it is, and what to send. Each under
 * a name of its own, so that no tab writes over what another one keeps. Without storage the page is all there is.
 */
export const leftInBrowser = {
  put(left: Left): void {
    tryTo(() => localStorage.setItem(prefix + left.decision.idempotencyKey, JSON.stringify(left)))
  },
  drop(key: string): void {
    tryTo(() => localStorage.removeItem(prefix + key))
  },
  all(): Left[] {
    const names = tryTo(() => Object.keys(localStorage)) ?? []
    return names
      .filter((name) => name.startsWith(prefix))
      .map((name) => tryTo((): unknown => JSON.parse(localStorage.getItem(name) ?? 'null')))
      .filter(isLeft)
  },
}

function tryTo<Value>(act: () => Value): Value | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}

/** Another version of the app may have written it. */
function isLeft(value: unknown): value is Left {
  if (typeof value !== 'object' || value === null) return false
  const { deed, decision, from, userId } = value as Partial<Left>
  const isDecision = typeof decision?.id === 'string' && typeof decision.idempotencyKey === 'string'
  return isDecision && deed !== undefined && deed in deeds && Number.isFinite(from) && userId !== undefined
}
