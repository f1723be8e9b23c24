import { accountIn, type LogLine } from '../proof/line.ts'
import { lineOfProof } from '../proof/log.ts'
import { readNote, type VerifierKey } from '../proof/note.ts'
import { type Vouched, verifyProof } from '../proof/proof.ts'
import { isolated } from '../rules/isolate.ts'
import { limitsOf, worthOfVouched } from './checkpoint.ts'
import { allOf, type Finding, nothingSaid } from './finding.ts'
import { formatCount, formatExactInstant, formatTotal } from './format.ts'
import type { KindOf } from './given.ts'
import { type CheckedLog, worthInLogs } from './log.ts'

/** Throws an Error if it does not lead from a line of the log to its checkpoint. */
export async function checkProof(
  { name, proof }: KindOf<'proof'>,
  { keys, logs }: { keys: readonly VerifierKey[]; logs: readonly CheckedLog[] },
): Promise<{ finding: Finding }> {
  const vouched = await verifyProof(proof, keys)
  const line = lineOfProof(proof)
  const place = `Line ${formatCount(line.sequence)} of ${vouched.origin}`
  const limits = [
    ...limitsOf(readNote(proof.checkpoint), vouched, keys),
    'The names and texts of the line. The proof has only their hashes.',
  ]
  const worth = allOf([
    worthOfVouched(vouched, keys, saidBy(line, vouched)),
    worthInLogs(line, 'this line', logs),
    { ...nothingSaid, beyond: limits },
  ])
  return { finding: { title: `${place} (${name})`, ...worth } }
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
