import { randomInt } from 'node:crypto'
import type { TestContext } from 'node:test'
import fc from 'fast-check'

function given(name: string): number | undefined {
  const text = process.env[name]
  if (text === undefined || text === '') return undefined
  const number = Number(text)
  if (!Number.isInteger(number)) throw new Error(`${name} must be a whole number`)
  return number
}

const seconds = given('FUZZ_SECONDS')
const runs = given('FUZZ_RUNS')

/** Everything random comes from it; the same seed gives the same requests again. */
export const seed = given('FUZZ_SEED') ?? randomInt(2 ** 31 - 1)

/**
 * How long a property is tried: for FUZZ_SECONDS, `share` times as long, else FUZZ_RUNS times, else so often that the
 * suite stays short. A failure names the path to its smallest case besides the seed.
 */
export function effort(shortRuns: number, share = 1): Pick<fc.Parameters, 'seed' | 'numRuns'> {
  if (seconds === undefined) return { seed, numRuns: runs ?? shortRuns }
  const untilInterrupted = { interruptAfterTimeLimit: seconds * share * 1000, numRuns: 1_000_000_000 }
  return { seed, ...untilInterrupted }
}

/**
 * Tries `run` on random values. What time interrupts is left running by fast-check: here it comes to its end, so that
 * it does not meet what follows.
 */
export async function assertAlways<T>(
  values: fc.Arbitrary<T>,
  parameters: fc.Parameters<[T]>,
  run: (value: T) => Promise<void>,
): Promise<void> {
  let running: Promise<void> = Promise.resolve()
  const property = fc.asyncProperty(values, (value) => {
    running = run(value)
    return running
  })
  try {
    await fc.assert(property, parameters)
  } finally {
    await running.catch(() => undefined)
  }
}

/** Says in the output of the test how a failure is replayed, before anything can fail. */
export function announceSeed(t: Pick<TestContext, 'diagnostic'>): void {
  t.diagnostic(`seed ${seed}; FUZZ_SEED=${seed} sends the same again`)
}
