import { accountIn, type LogLine } from '../proof/line.ts'
import type { Vouched } from '../proof/proof.ts'
import { type JudgedLine, judgeProof } from '../proof/verdict.ts'
import { isolated } from '../rules/isolate.ts'
import { boundsOf, findingOf, type GivenKey } from './checkpoint.ts'
import { allOf, type Finding, nothingSaid } from './finding.ts'
import { formatCount, formatExactInstant, formatTotal, sentence } from './format.ts'
import type { KindOf } from './given.ts'
import { type CheckedLog, worthInLogs } from './log.ts'

/** Checks a tlog-proof: a line of the log without its names, and its place. */
export async function checkProof(
  { name, proof }: KindOf<'proof'>,
  { keys, logs }: { keys: readonly GivenKey[]; logs: readonly CheckedLog[] },
): Promise<{ finding: Finding; judged: JudgedLine }> {
  const judged = await judgeProof(
    proof,
    keys.map(({ key }) => key),
  )
  const { line, vouched } = judged
  if (line === undefined || vouched === undefined) {
    return { finding: { ...nothingSaid, title: name, wrong: judged.faults.map(sentence) }, judged }
  }
  const limits = [
    ...boundsOf(vouched, keys),
    'The names and texts of the line. The proof has only their hashes.',
  ]
  const worth = allOf([
    findingOf(judged, [saidBy(line, vouched)]),
    worthInLogs(line, { what: 'this line', origin: vouched.origin, logs }),
    { ...nothingSaid, beyond: limits },
  ])
  return {
    finding: { title: `Line ${formatCount(line.sequence)} of ${vouched.origin} (${name})`, ...worth },
    judged,
  }
}

function saidBy(line: LogLine, { origin, size }: Vouched): string {
  const { sequence, kind, subject, data, atUtc } = line
  const place = `Line ${formatCount(sequence)} of the log ${isolated(origin)}, which had ${formatCount(size)} lines`
  const { total } = data
  const order = typeof total === 'string' ? `, with a total of ${formatTotal(total as `${number}`)}` : ''
  const { byId, forId } = line
  const by = accountIn(byId)
  const instead = forId === null ? '' : ` in the place of ${accountIn(forId)}`
  return `${place}, says “${isolated(kind)}” by ${by}${instead} on ${formatExactInstant(atUtc)}. It is about ${isolated(`${subject.kind} ${subject.id}`)}${order}.`
}
