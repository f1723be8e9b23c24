// engine: both
import { randomInt } from 'node:crypto'
import { after, before, describe, it, mock } from 'node:test'
import { simulate } from './simulate.ts'
import { drawSteps, inWords, type Step, shrink } from './steps.ts'
import { dropTemplate } from './world.ts'

const given = (name: string, usual: number) => {
  const number = Number(process.env[name] || usual)
  if (!Number.isFinite(number)) throw new Error(`${name} must be a number`)
  return number
}
const seed = given('SEED', randomInt(2 ** 31 - 1))
/** The long form, `npm run test:simulate`, goes on for this long. */
const seconds = given('SECONDS', 0)
/** Some 10 s of a core. */
const runs = 8
const stepsOfRun = 120
/** A test that takes too long is ended before it has printed anything. */
const shrinkingMilliseconds = 120_000

const failureOf = (steps: readonly Step[]) =>
  simulate(steps).then(
    () => undefined,
    (error: Error) => error,
  )

/** The same fault may name other numbers. */
const kindOf = (error: Error | undefined) => error?.message.replaceAll(/\d+/g, '0').slice(0, 40)

/**
 * This is for the order of events: what happens between two awaits of an instance, while the other one works,
 * time passes, and anything fails once. test/fuzz/ checks every answer to requests that follow each other,
 * and test/faults/ does to real processes what is only simulated here.
 */
describe('two instances, and everything around them', () => {
  // No answer is late because the machine is busy: all time is simulated.
  before(() => void mock.method(AbortSignal, 'timeout', () => new AbortController().signal))
  after(dropTemplate)

  it('keep every promise, whatever happens in whatever order', async (t) => {
    const end = performance.now() + seconds * 1000
    let run = 0
    for (; seconds > 0 ? performance.now() < end : run < runs; run += 1) {
      const steps = drawSteps(seed + run, stepsOfRun)
      const failure = await failureOf(steps)
      if (failure === undefined) continue
      t.diagnostic(`SEED=${seed + run} fails first: ${failure.message}`)
      const until = performance.now() + shrinkingMilliseconds
      const isSame = async (fewer: readonly Step[]) =>
        performance.now() < until && kindOf(await failureOf(fewer)) === kindOf(failure)
      t.diagnostic(`\n${inWords(await shrink(steps, isSame))}`)
      throw failure
    }
    t.diagnostic(`${run} runs of ${stepsOfRun} steps, SEED=${seed}`)
  })
})
