import { toBase64 } from '../proof/bytes.ts'
import type { Note, VerifierKey } from '../proof/note.ts'
import { type Vouched, vouchedBy } from '../proof/proof.ts'
import { isolated } from '../rules/isolate.ts'
import { type Finding, nothingSaid, type Worth } from './finding.ts'
import { formatCount, formatExactInstant, inSeries } from './format.ts'
import type { KindOf } from './given.ts'

/** A checkpoint, and what its signatures are worth. */
export interface CheckedCheckpoint extends Vouched {
  name: string
  finding: Finding
}

/** Throws an Error if the note is not a checkpoint. */
export async function checkCheckpoint(
  { name, note }: KindOf<'checkpoint'>,
  keys: readonly VerifierKey[],
): Promise<CheckedCheckpoint> {
  const vouched = await vouchedBy(note, keys)
  const { origin, size, root } = vouched
  const words = `It says: the log ${isolated(origin)} has ${formatCount(size)} lines, with the root ${toBase64(root)}.`
  const title = `Checkpoint of ${origin}, ${formatCount(size)} lines (${name})`
  const beyond = limitsOf(note, vouched, keys)
  return { ...vouched, name, finding: { title, ...worthOfVouched(vouched, keys, words), beyond } }
}

/** How far the keys prove the words, which are true if the checkpoint is. */
export function worthOfVouched(vouched: Vouched, keys: readonly VerifierKey[], words: string): Worth {
  const signed = worthOfSignatures(vouched, keys)
  const cosigned = worthOfCosignatures(vouched, keys)
  const isSigned = vouched.signed.length > 0
  return {
    proven: isSigned ? [words, ...signed.proven, ...cosigned.proven] : [],
    wrong: [...signed.wrong, ...cosigned.wrong],
    missing: isSigned ? cosigned.missing : [words, ...signed.missing, ...cosigned.missing],
    beyond: [],
  }
}

function worthOfSignatures({ origin, signed, forged }: Vouched, keys: readonly VerifierKey[]): Worth {
  const called = ({ name, id }: VerifierKey) => `The key ${isolated(`${name}+${id}`)}`
  if (!keys.some(isOfLog)) {
    return { ...nothingSaid, missing: ['None of this is proven yet. Add the key of the log.'] }
  }
  const proven = signed.map((key) => `${called(key)} signed this checkpoint. Nobody has changed it since.`)
  const wrong = forged
    .filter(isOfLog)
    .map((key) => `${called(key)} did not sign this checkpoint: it was altered.`)
  const others = `None of the keys that you added signed this checkpoint. They are not those of ${isolated(origin)}, or of another time.`
  return { ...nothingSaid, proven, wrong: proven.length + wrong.length === 0 ? [others] : wrong }
}

function worthOfCosignatures({ cosigned, forged }: Vouched, keys: readonly VerifierKey[]): Worth {
  const called = ({ name }: VerifierKey) => `The witness ${isolated(name)}`
  const proven = cosigned.map(({ key, seconds }) => {
    const instant = formatExactInstant(new Date(seconds * 1000).toISOString())
    return `${called(key)} cosigned it on ${instant}: it vouches that the log had only grown until then.`
  })
  const isAbsent = (key: VerifierKey) => !forged.includes(key) && !cosigned.some((one) => one.key === key)
  const witnesses = keys.filter((key) => !isOfLog(key))
  return {
    ...nothingSaid,
    proven,
    wrong: witnesses
      .filter((key) => forged.includes(key))
      .map((key) => `${called(key)} did not cosign this: its cosignature does not hold.`),
    missing: witnesses.filter(isAbsent).map((key) => `${called(key)} has not cosigned it.`),
  }
}

export const isOfLog = ({ type }: VerifierKey) => type === 'ed25519'

/** The limits of the signatures of a checkpoint, unless nothing is proven at all. */
export function limitsOf(
  { signatures }: Note,
  { signed, cosigned }: Vouched,
  keys: readonly VerifierKey[],
): string[] {
  if (signed.length === 0) return []
  const isKnown = (signature: Note['signatures'][number]) =>
    keys.some(({ name, id }) => name === signature.name && id === signature.id)
  const others = new Set(signatures.filter((one) => !isKnown(one)).map(({ name }) => isolated(name)))
  return [
    'That the keys belong to the log and its witnesses. Only you know where they are from.',
    ...(others.size > 0 ? [`That ${inSeries([...others])} signed it too. You added no key of theirs.`] : []),
    ...(cosigned.length > 0
      ? []
      : ['That everybody is shown the same log. The cosignature of a witness shows it.']),
  ]
}
