import type { Attempt, Next, Subscription } from './store.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** When an event that was not delivered is tried again. All times are in milliseconds. */
export interface Retries {
  /** The pause after each failure in a row; the last one repeats. */
  pauses: readonly number[]
  /** How long an event is tried before its subscription is disabled. */
  limit: number
  /** The most that a receiver can ask for by `Retry-After`. */
  longestWish: number
}

/** The schedule of Standard Webhooks, as far as three days go. */
export const defaultRetries: Retries = {
  pauses: [
    5 * second,
    30 * second,
    5 * minute,
    30 * minute,
    2 * hour,
    5 * hour,
    10 * hour,
    14 * hour,
    12 * hour,
  ],
  limit: 72 * hour,
  longestWish: hour,
}

/** A pause is up to a tenth longer or shorter, so that receivers do not all come back at once. */
const jitter = 0.1

/** How far ahead the next attempt can be after this many failures in a row, in milliseconds. */
export function longestPause(failures: number, { pauses, limit, longestWish }: Retries): number {
  const planned = pauses[Math.min(failures, pauses.length) - 1] ?? limit
  return Math.max(Math.round(planned * (1 + jitter)), longestWish)
}

/** How a courier reports an attempt. */
export interface Report extends Attempt {
  /** The receiver wants no more events, ever. */
  isGone?: boolean
  /** How long the receiver asked to wait, in milliseconds. */
  wishedPause?: number | undefined
}

/** The next step after a failed attempt. `random` is at least 0 and below 1. */
export function afterFailure(
  { failures, failingSince }: Pick<Subscription, 'failures' | 'failingSince'>,
  { at, isGone, wishedPause = 0 }: Report,
  { retries, random }: { retries: Retries; random: number },
): Exclude<Next, { kind: 'delivered' }> {
  if (isGone) return { kind: 'disabled', because: 'gone' }
  const { pauses, limit, longestWish } = retries
  const began = Math.min(failingSince ?? at, at)
  // Three days have more attempts than that: a clock was behind, or the service off.
  const since = at >= began + limit && failures < pauses.length ? at : began
  if (at >= since + limit) return { kind: 'disabled', because: 'failing' }
  const planned = pauses[Math.min(failures, pauses.length - 1)] ?? limit
  const pause = planned * (1 + jitter * (2 * random - 1))
  const wished = Math.min(wishedPause, longestWish)
  return {
    kind: 'retry',
    failingSince: since,
    at: Math.min(at + Math.round(Math.max(pause, wished)), since + limit),
  }
}
