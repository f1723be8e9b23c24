import { Load, type LoadResult } from './load.ts'
import type { Requests } from './requests.ts'
import type { MeasuredServer } from './server.ts'

export interface Scenario {
  name: string
  server: MeasuredServer
  /** Made again for each round. */
  requests(): Requests | Promise<Requests>
  connections: number
  pauseMilliseconds?: number
  expected?: number
  /** Runs at the same time, and is not measured. */
  beside?: Omit<Scenario, 'name' | 'beside'>
}

/** One round of a scenario, and the baseline of the same round. */
export interface Round extends LoadResult {
  /** Processor time of the server process for each answer. */
  cpuMicroseconds: number
  /** The part spent outside the operating system. */
  userMicroseconds: number
  residentBytes: number
}

export interface RoundOptions {
  rounds: number
  seconds: number
  onRound: (name: string) => void
}

let orders = 0

/**
 * Runs all scenarios in turn, once for each round. Other work of the machine affects all of them alike, so
 * ratios within a round mean something where rates do not. Throws if a status is not the expected one.
 */
export async function interleave(
  scenarios: Scenario[],
  { rounds, seconds, onRound }: RoundOptions,
): Promise<Map<string, Round[]>> {
  const results = new Map<string, Round[]>(scenarios.map(({ name }) => [name, []]))
  const [load, second] = [new Load(), new Load()]
  try {
    // The first round only warms up the compilers. It is not kept, unless it is the only one.
    for (let round = rounds === 1 ? 1 : 0; round <= rounds; round += 1) {
      for (const scenario of scenarios) {
        onRound(`round ${round} of ${rounds}: ${scenario.name}`)
        const result = await runRound(load, second, scenario, seconds)
        if (round > 0) results.get(scenario.name)?.push(result)
      }
    }
  } finally {
    await Promise.all([load.end(), second.end()])
  }
  return results
}

async function runRound(load: Load, second: Load, scenario: Scenario, seconds: number): Promise<Round> {
  const { server, beside } = scenario
  const [order, besideOrder] = await Promise.all([
    orderOf(scenario, seconds),
    beside && orderOf(beside, seconds + 0.2),
  ])
  const before = await server.usage()
  const [result] = await Promise.all([load.run(order), besideOrder && second.run(besideOrder)])
  const loaded = await server.usage()
  const failed = Object.entries(result.failures).map(([status, count]) => `${count} of status ${status}`)
  if (failed.length > 0) throw new Error(`${scenario.name}: of ${result.all} answers ${failed.join(', ')}`)
  const answers = Math.max(1, result.all)
  return {
    ...result,
    cpuMicroseconds: (loaded.cpuMicroseconds - before.cpuMicroseconds) / answers,
    userMicroseconds: (loaded.userMicroseconds - before.userMicroseconds) / answers,
    residentBytes: loaded.residentBytes,
  }
}

async function orderOf(scenario: Omit<Scenario, 'name' | 'beside'>, seconds: number) {
  return {
    port: scenario.server.port,
    requests: await scenario.requests(),
    connections: scenario.connections,
    pauseMilliseconds: scenario.pauseMilliseconds ?? 0,
    warmUpMilliseconds: Math.min(300, seconds * 250),
    milliseconds: seconds * 1000,
    expected: scenario.expected ?? 200,
    run: `${process.pid}-${orders++}`,
  }
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const [low = Number.NaN, high = Number.NaN] = [
    sorted[sorted.length % 2 === 0 ? middle - 1 : middle],
    sorted[middle],
  ]
  return (low + high) / 2
}
