import { isPassing, mayHaveHappened, retryDelayMilliseconds } from '../api/problem.ts'

export type Answer<Value> =
  | { kind: 'done'; value: Value }
  | { kind: 'failed'; failure: unknown }
  | { kind: 'stopped'; failure: unknown }

export interface Trying {
  signal: AbortSignal
  /** Ends early when the connection is back, or at the signal. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>
  /** Hears each failure after which it is tried again. */
  onRetry(failure: unknown): void
  /** Where it is noted that the request may have had its effect although no answer says so. */
  sent?: { mayHaveHappened: boolean }
}

/** Tries until an answer stays. After the signal it waits only for what is under way. Never throws. */
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
