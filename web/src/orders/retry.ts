import { isPassing, mayHaveHappened, retryDelayMilliseconds } from '../api/problem.ts'

export type Answer<Value> =
  | { kind: 'done'; value: Value }
  | { kind: 'failed'; failure: unknown }
  | { kind: 'stopped'; failure: unknown }

export interface Trying {
  signal: AbortSignal
  /** Ends early when the connection is back or the signal aborts. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>
  /** Called with each failure that leads to another try. */
  onRetry(failure: unknown): void
  /** Records that the request may have taken effect although no answer says so. */
  sent?: { mayHaveHappened: boolean }
}

/**
 * Tries until there is an answer, or a failure that does not pass. Once the signal aborts, waits only for the
 * running request. Never throws.
 */
export async function untilAnswered<Value>(
  attempt: () => Promise<Value>,
  { signal, pause, onRetry, sent }: Trying,
): Promise<Answer<Value>> {
  for (let tries = 0; ; tries += 1) {
    try {
      return { kind: 'done', value: await attempt() }
    } catch (failure) {
      if (sent) sent.mayHaveHappened ||= mayHaveHappened(failure)
      if (!isPassing(failure)) return { kind: 'failed', failure }
      onRetry(failure)
      if (!signal.aborted) await pause(retryDelayMilliseconds(tries, failure), signal)
      if (signal.aborted) return { kind: 'stopped', failure }
    }
  }
}
