import { toBase64 } from '../proof/bytes.ts'
import { isOfLog } from '../proof/note.ts'
import { type Vouched, vouchedBy } from '../proof/proof.ts'
import { type Judgement, judgeCheckpoint } from '../proof/verdict.ts'
import { instantOf } from '../proof/words.ts'
import { isolated } from '../rules/isolate.ts'
import { type Finding, nothingSaid, type Worth } from './finding.ts'
import { formatCount, formatExactInstant, sentence } from './format.ts'
import type { KindOf } from './given.ts'

export type GivenKey = KindOf<'logKey' | 'witnessKey'>

/** A checkpoint, and what its signatures are worth. */
export interface CheckedCheckpoint extends Vouched {
  name: string
  finding: Finding
  judged: Judgement
}

/** Throws an Error if the note is not a checkpoint. */
export async function checkCheckpoint(
  { name, note }: KindOf<'checkpoint'>,
  given: readonly GivenKey[],
): Promise<CheckedCheckpoint> {
  const keys = given.map(({ key }) => key)
  const vouched = await vouchedBy(note, keys)
  const { origin, size, root } = vouched
  const words = `The log ${isolated(origin)} has ${formatCount(size)} lines, with the root ${toBase64(root)}.`
  const title = `Checkpoint of ${origin}, ${formatCount(size)} lines (${name})`
  const judged = judgeCheckpoint(vouched, keys)
  const finding = { ...findingOf(judged, [words]), title, beyond: boundsOf(vouched, given) }
  return { ...vouched, name, judged, finding }
}

/** The words, and whether they are proven. */
export function findingOf({ faults, missing }: Judgement, words: readonly string[]): Worth {
  if (faults.length > 0) return { ...nothingSaid, wrong: faults.map(sentence) }
  return missing.length > 0
    ? { ...nothingSaid, missing: missing.map(sentence), said: [...words] }
    : { ...nothingSaid, proven: [...words] }
}

/** The times of the cosignatures, and the given keys that do not stand behind it. */
export function boundsOf(
  { origin, signed, cosigned, unchecked }: Vouched,
  given: readonly GivenKey[],
): string[] {
  const times = cosigned.map(({ key, seconds }) => {
    const instant = instantOf(seconds, formatExactInstant)
    return `What happened after ${instant}, when the witness ${isolated(key.name)} cosigned the checkpoint: it vouches that the log had only grown until then.`
  })
  const behind = [...signed, ...cosigned.map(({ key }) => key)]
  const others = given.filter(({ key }) => !behind.includes(key) && (!isOfLog(key) || key.name === origin))
  return [
    ...times,
    ...others.map(
      ({ key }) =>
        `That ${isolated(`${key.name}+${key.id}`)} stands behind the checkpoint: ${unchecked.includes(key) ? 'this browser cannot check its kind of signature' : 'that key did not sign it'}.`,
    ),
    ...(cosigned.length > 0
      ? []
      : ['That everybody is shown the same log. The cosignature of a witness shows it.']),
  ]
}
