import { toHex } from '../proof/bytes.ts'
import { type ApprovedDocument, DocumentSearch } from '../proof/document.ts'
import type { LogLine } from '../proof/line.ts'
import { eraOf, type LogReport, restoreThatLost, verifyLog } from '../proof/log.ts'
import { placeInLog } from '../proof/verdict.ts'
import { listed } from '../proof/words.ts'
import { isolated } from '../rules/isolate.ts'
import type { CheckedCheckpoint } from './checkpoint.ts'
import { allOf, type Finding, nothingSaid, type Worth } from './finding.ts'
import { formatCount, inSeries } from './format.ts'
import type { KindOf } from './given.ts'

export interface CheckedLog {
  name: string
  finding: Finding
  /** How many lines the checkpoints bind. */
  bound: number
  /** The lines of the wanted sequences that fit. */
  lines: Map<number, LogLine>
  restores: LogReport['restores']
  /** The wanted files among the documents of approved orders. */
  documents: ApprovedDocument[]
}

interface Wanted {
  checkpoints: readonly CheckedCheckpoint[]
  /** The sequences of lines. */
  wanted: ReadonlySet<number>
  /** The SHA-256 of files. */
  files: readonly string[]
}

/** Reads the whole export. `progress` gets the part that is read, from 0 to 1. */
export async function checkLog(
  { name, lines: content }: KindOf<'log'>,
  { checkpoints, wanted, files }: Wanted,
  progress: (part: number) => void,
): Promise<CheckedLog> {
  const lines = new Map<number, LogLine>()
  const search = new DocumentSearch(files)
  const heads = checkpoints.map(({ origin, size, root }) => ({ era: eraOf(origin), size, root: toHex(root) }))
  const report = await verifyLog(chunksOf(content, progress), heads, (line) => {
    if (wanted.has(line.sequence)) lines.set(line.sequence, line)
    search.see(line)
  })
  const agreeing = checkpoints.filter(({ finding }, at) => {
    return finding.proven.length > 0 && report.checkpoints[at] === 'agrees'
  })
  const finding = { title: `Log (${name})`, ...worthOf(report, checkpoints, agreeing) }
  return {
    name,
    bound: finding.wrong.length > 0 ? 0 : boundBy(agreeing),
    lines,
    restores: report.restores,
    documents: search.found,
    finding,
  }
}

const chunkBytes = 262_144

/** Not `stream()`, which not every browser can iterate. */
export async function* chunksOf(content: Blob, progress: (part: number) => void): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.size; at += chunkBytes) {
    progress(at / content.size)
    yield new Uint8Array(await content.slice(at, at + chunkBytes).arrayBuffer())
  }
}

const boundBy = (checkpoints: readonly CheckedCheckpoint[]) =>
  Math.max(0, ...checkpoints.map(({ size }) => size))

function worthOf(
  report: LogReport,
  checkpoints: readonly CheckedCheckpoint[],
  agreeing: readonly CheckedCheckpoint[],
): Worth {
  const { head, fault, lost, signed, backInTime } = report
  const faults = [
    ...(fault === null ? [] : [`Line ${formatCount(fault.sequence)} does not fit: ${fault.reason}.`]),
    ...disagreements(report, checkpoints),
    ...(lost === null
      ? []
      : [
          `${isolated(lost.name)} of line ${formatCount(lost.sequence)} is gone, and no line says that it was erased.`,
        ]),
  ]
  if (faults.length > 0) return { ...nothingSaid, wrong: faults }
  const bound = boundBy(agreeing)
  const whole = `Each of the ${formatCount(head.size)} lines fits its hash.`
  if (agreeing.length === 0) {
    const missing = `${whole} Nothing binds them to each other: add a checkpoint of the log and the key of the log.`
    return { ...nothingSaid, missing: [missing] }
  }
  const names = inSeries(agreeing.map(({ name }) => isolated(name)))
  return {
    ...nothingSaid,
    missing:
      bound < head.size
        ? [
            `Lines ${formatCount(bound + 1)} to ${formatCount(head.size)} are newer than every checkpoint here: add a newer one, or check the log up to line ${formatCount(bound)}.`,
          ]
        : [],
    proven: [
      `${whole} None of the first ${formatCount(bound)} was changed, removed or added since ${names} was signed.`,
      ...(signed === 0
        ? []
        : [`${formatCount(signed)} decisions have the signature of a passkey that the account had then.`]),
    ],
    beyond: [
      ...lostLines(report, checkpoints),
      ...(backInTime.events === 0
        ? []
        : [`That the clock was right at line ${listed(backInTime, formatCount)}, where the time runs back.`]),
    ],
  }
}

/** A root says that a line was changed, not which one. */
function disagreements(
  { head, fault, checkpoints: agreements }: LogReport,
  checkpoints: readonly CheckedCheckpoint[],
): string[] {
  return checkpoints.flatMap(({ name, size }, index) => {
    if (agreements[index] === 'disagrees') {
      const agreed = checkpoints.filter((one, at) => agreements[at] === 'agrees' && one.size < size)
      const first = 1 + Math.max(0, ...agreed.map((one) => one.size))
      return `One of the lines ${formatCount(first)} to ${formatCount(size)} is not as ${isolated(name)} has it: it was changed, removed or added.`
    }
    if (agreements[index] === 'beyond' && fault === null)
      return `The end is missing: ${isolated(name)} covers ${formatCount(size)} lines, and ${formatCount(head.size)} are here and fit.`
    return []
  })
}

/** No fault: the log says itself that its database went back. */
function lostLines({ restores }: LogReport, checkpoints: readonly CheckedCheckpoint[]): string[] {
  return checkpoints.flatMap(({ name, origin, size }) => {
    const restore = restoreThatLost(restores, { era: eraOf(origin), size })
    if (restore === undefined) return []
    const first = formatCount(restore.sequence)
    return [
      `What lines ${first} to ${formatCount(size)} were that ${isolated(name)} covers: they were lost by the restore of line ${first}.`,
    ]
  })
}

/** The finding about a line in the logs. `what` names it, and its checkpoint has `origin`. */
export function worthInLogs(
  line: LogLine,
  { what, origin, logs }: { what: string; origin: string; logs: readonly CheckedLog[] },
): Worth {
  const { sequence } = line
  const place = `line ${formatCount(sequence)}`
  return allOf(
    logs.map((one) => {
      const [found, log] = [placeInLog(line, origin, one), isolated(one.name)]
      if (typeof found === 'object') {
        const lost = `In ${log}, ${place} was lost by the restore of line ${formatCount(found.sequence)}.`
        return { ...nothingSaid, missing: [lost] }
      }
      if (found === 'none') {
        return { ...nothingSaid, missing: [`${log} ends before ${place}, or does not hold as far as that.`] }
      }
      if (found === 'other') {
        return { ...nothingSaid, wrong: [`In ${log}, ${place} is something else than ${what}.`] }
      }
      const same = `In ${log}, ${place} is ${what}`
      return sequence <= one.bound
        ? { ...nothingSaid, proven: [`${same}.`] }
        : { ...nothingSaid, missing: [`${same}, but no checkpoint covers that line.`] }
    }),
  )
}
