import type { BenchOptions } from './options.ts'
import { type Line, print, printColumns, short, toLine } from './report.ts'
import { interleave } from './rounds.ts'
import { growthScenarios, type NamedScenario } from './scenarios.ts'
import { type Site, sqliteSite, startService, type Workplace } from './site.ts'

/**
 * Sends the same requests to services with more and more orders, interleaved. An answer should not cost more.
 */
export async function measureGrowth(
  workplace: Workplace,
  options: BenchOptions,
  note: (text: string) => void,
): Promise<Line[]> {
  const stops: (() => Promise<unknown>)[] = []
  const scenarios: NamedScenario[][] = []
  try {
    for (const orders of options.growth) {
      note(`data set of ${orders.toLocaleString('en-US')} orders`)
      const site: Site = await sqliteSite(workplace, orders, `growth-${orders}`, options.users)
      stops.push(() => site.close())
      const service = await startService(site)
      stops.push(() => service.stop())
      scenarios.push(growthScenarios(site, service))
    }
    const kinds = (scenarios[0] ?? []).map((_, kind) => scenarios.map((ofSize) => ofSize[kind]))
    const lines: Line[] = []
    for (const kind of kinds) {
      const group = kind.filter((scenario) => scenario !== undefined)
      const results = await interleave(group, { ...options, onRound: note })
      lines.push(...group.map((scenario) => toLine(scenario, results.get(scenario.name) ?? [])))
    }
    if (lines.length > 0) printGrowth(lines, options.growth.length)
    return lines
  } finally {
    for (const stop of stops.toReversed()) await stop()
  }
}

/**
 * Prints a row for each kind and size, with its processor time as a multiple of that of the smallest size.
 */
function printGrowth(lines: Line[], sizes: number): void {
  const rows = lines.map((line, index) => {
    const smallest = lines[index - (index % sizes)]
    const times = line.cpuMicroseconds / (smallest?.cpuMicroseconds ?? Number.NaN)
    return [line.name, short(line.rate), short(line.cpuMicroseconds), short(line.p50), short(times)]
  })
  print('\nGrowth\n')
  printColumns([['', 'per s', 'CPU µs', 'p50 ms', 'times'], ...rows])
}
