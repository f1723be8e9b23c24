import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { median, type Round } from './rounds.ts'
import type { NamedScenario, Target } from './scenarios.ts'
import { fileOf } from './server.ts'

/** One line of the table: medians over the rounds. */
export interface Line {
  name: string
  /** Answers a second. */
  rate: number
  /** Relative to F in the same round: median, least and greatest. */
  ratio?: [median: number, least: number, greatest: number]
  /** F's processor time for an answer, divided by this one's. */
  cpuRatio?: number
  cpuMicroseconds: number
  p50: number
  p99: number
  residentMegabytes: number
  target?: Target
  rounds: Round[]
}

export function toLine(scenario: Pick<NamedScenario, 'name' | 'target'>, rounds: Round[], f?: Round[]): Line {
  const of = (key: 'rate' | 'cpuMicroseconds' | 'p50' | 'p99') => median(rounds.map((round) => round[key]))
  const line: Line = {
    name: scenario.name,
    rate: of('rate'),
    cpuMicroseconds: of('cpuMicroseconds'),
    p50: of('p50'),
    p99: of('p99'),
    residentMegabytes: Math.max(...rounds.map((round) => round.residentBytes)) / 1e6,
    ...(scenario.target === undefined ? {} : { target: scenario.target }),
    rounds,
  }
  if (f === undefined) return line
  const ratios = rounds.map(({ rate }, index) => rate / (f[index]?.rate ?? Number.NaN))
  const cpuRatios = rounds.map(
    ({ cpuMicroseconds }, index) => (f[index]?.cpuMicroseconds ?? 0) / cpuMicroseconds,
  )
  return {
    ...line,
    ratio: [median(ratios), Math.min(...ratios), Math.max(...ratios)],
    cpuRatio: median(cpuRatios),
  }
}

export function printTable(title: string, lines: Line[]): void {
  const heading = ['', 'per s', '/F', 'spread', '/F by CPU', 'CPU µs', 'p50 ms', 'p99 ms', 'target']
  const rows = lines.map((line) => [
    line.name,
    short(line.rate),
    line.ratio === undefined ? '' : short(line.ratio[0]),
    line.ratio === undefined ? '' : `${short(line.ratio[1])}–${short(line.ratio[2])}`,
    line.cpuRatio === undefined ? '' : short(line.cpuRatio),
    short(line.cpuMicroseconds),
    short(line.p50),
    short(line.p99),
    line.target === undefined
      ? ''
      : `${short(line.target.least)} / ${short(line.target.hoped)} ${verdict(line)}`,
  ])
  print(`\n${title}\n`)
  printColumns([heading, ...rows])
}

/** If rounds differ by more than this, they mean nothing. */
const spreadLimit = 1.5

/** Judged by the rate, with a question mark where rounds, or rate and processor time, disagree. */
function verdict({ ratio, cpuRatio, target }: Line): string {
  if (target === undefined || ratio === undefined || cpuRatio === undefined) return ''
  const [median, least, greatest] = ratio
  const mark = median >= target.hoped ? '++' : median >= target.least ? '+' : '-'
  const isSure = greatest / least <= spreadLimit && (mark === '-' || cpuRatio >= target.least)
  return isSure ? mark : `${mark}?`
}

export function printColumns(rows: string[][]): void {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  for (const row of rows) {
    const [first = '', ...rest] = row
    const cells = rest.map((cell, index) => cell.padStart(widths[index + 1] ?? 0))
    print([first.padEnd(widths[0] ?? 0), ...cells].join('  ').trimEnd())
  }
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Three significant digits, without exponent. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '-'
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US')
  return String(Number(value.toPrecision(value < 1 ? 2 : 3)))
}

/** Facts about the machine that a reader needs; none identifies it. */
export function machineFacts(): Record<string, unknown> {
  return {
    date: new Date().toISOString(),
    commit: git('rev-parse', '--short', 'HEAD'),
    changed: git('status', '--porcelain') !== '',
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    cores: availableParallelism(),
    processor: cpus()[0]?.model ?? 'unknown',
    memoryGigabytes: Math.round(totalmem() / 1e9),
  }
}

function git(...args: string[]): string {
  try {
    return execFileSync('git', args, { cwd: fileOf('..'), encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    return 'unknown'
  }
}

/**
 * Replaces the last result with this label, and returns the name of the file. A list or object that holds no
 * further one is one line.
 */
export function writeResult(label: string, result: object): string {
  const folder = fileOf('./results')
  mkdirSync(folder, { recursive: true })
  const rounded = (_key: string, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(6)) : value
  const text = JSON.stringify(result, rounded, 1)
  const lines = text.replaceAll(/[[{](?:[^[\]{}]|\{\})*[\]}]/g, (part) => part.replaceAll(/\n\s*/g, ' '))
  writeFileSync(join(folder, `${label}.json`), `${lines}\n`)
  return `bench/results/${label}.json`
}
