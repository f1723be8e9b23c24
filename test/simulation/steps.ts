/** Steps of a simulation. Each is plain data with its own random numbers, so any of them can be dropped. */

/** A disturbance of the step's work at its n-th call of a port; of a request, at its write. */
export interface Stop {
  at: number
  /**
   * The call fails before it does anything; its answer is lost; its commit fails; the work waits before or
   * after it until a later step; the instance dies before or after it.
   */
  by: 'fail' | 'lose' | 'commit' | 'wait' | 'pause' | 'die' | 'die-after'
}

export interface Step {
  do: StepName
  /** The instance. */
  at: 0 | 1
  /** Each chooses one of what there is, by its remainder. */
  n: [number, number, number]
  stop?: Stop
}

/** How often each step is drawn. */
const weights = {
  create: 12,
  approve: 18,
  reject: 3,
  withdraw: 2,
  note: 2,
  repeat: 8,
  seal: 14,
  send: 16,
  queueMail: 7,
  sendMail: 9,
  witness: 5,
  upkeep: 3,
  resume: 9,
  pass: 9,
  setClock: 2,
  end: 2,
  kill: 1,
  receiver: 7,
  mailServer: 3,
  witnessAnswers: 2,
  webhook: 5,
  policy: 2,
  absence: 3,
  roles: 3,
  settings: 2,
  enable: 1,
  read: 4,
  checkpoint: 3,
  lateCommit: 2,
  backUp: 2,
  restore: 2,
}
export type StepName = keyof typeof weights

/** One in this many steps is disturbed. */
const stopEvery = 4
const stops: Stop['by'][] = ['wait', 'pause', 'pause', 'pause', 'lose', 'fail', 'commit', 'die', 'die-after']

/** Numbers from 0 up to, but not including, 1; the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function drawSteps(seed: number, count: number): Step[] {
  const random = randomOf(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const names = Object.entries(weights).flatMap(([name, weight]) => Array<string>(weight).fill(name))
  return Array.from({ length: count }, () => {
    const step: Step = {
      do: names[below(names.length)] as StepName,
      at: below(2) as 0 | 1,
      n: [below(840), below(840), below(840)],
    }
    const stop: Stop = { at: 1 + below(6), by: stops[below(stops.length)] ?? 'pause' }
    return below(stopEvery) === 0 ? { ...step, stop } : step
  })
}

/** Fewer steps that fail as well: drops ever smaller runs of them, and then disturbances. */
export async function shrink(
  steps: readonly Step[],
  fails: (fewer: readonly Step[]) => Promise<boolean>,
): Promise<readonly Step[]> {
  let least = steps
  for (let length = Math.ceil(least.length / 2); ; length = Math.ceil(length / 2)) {
    for (let from = least.length - length; from > -length; ) {
      const fewer = least.filter((_, index) => index < from || index >= from + length)
      const isLess = fewer.length < least.length && (await fails(fewer))
      if (isLess) least = fewer
      from -= length
    }
    if (length === 1) break
  }
  for (const [index, { stop }] of least.entries()) {
    if (stop === undefined) continue
    const calmer = least.map(({ stop: kept, ...step }, other) =>
      other === index || kept === undefined ? step : { ...step, stop: kept },
    )
    if (await fails(calmer)) least = calmer
  }
  return least
}

/** A test to paste. */
export function inWords(steps: readonly Step[]): string {
  const lines = steps.map(({ do: name, at, n, stop }) => {
    const disturbed = stop === undefined ? '' : `, stop: { at: ${stop.at}, by: '${stop.by}' }`
    return `    { do: '${name}', at: ${at}, n: [${n.join(', ')}]${disturbed} },`
  })
  return ['  it("...", () => simulate([', ...lines, '  ]))'].join('\n')
}
