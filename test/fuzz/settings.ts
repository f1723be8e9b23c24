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

/** Everything random follows from it: the same seed makes the same requests again. */
export const seed = given('FUZZ_SEED') ?? randomInt(2 ** 31 - 1)

/**
 * How long to try a property: for FUZZ_SECONDS times `share`, or FUZZ_RUNS times, or by default only so
 * often that the suite stays short. A failure names the seed and the path to its smallest case.
 */
export function effort(shortRuns: number, share = 1): Pick<fc.Parameters, 'seed' | 'numRuns'> {
  if (seconds === undefined) return { seed, numRuns: runs ?? shortRuns }
  const untilInterrupted = { interruptAfterTimeLimit: seconds * share * 1000, numRuns: 1_000_000_000 }
  return { seed, ...untilInterrupted }
}

/**
 * Tries `run` on random values. fast-check abandons a run when its time is up; this waits until it ends, so
 * that it cannot disturb what follows.
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

/** Prints how to replay a failure, before anything can fail. */
export function announceSeed(t: Pick<TestContext, 'diagnostic'>): void {
  t.diagnostic(`seed ${seed}; FUZZ_SEED=${seed} sends the same again`)
}
