import { toBase64 } from '../../client/src/bytes.ts'
import {
  type Checkpoint,
  readCheckpoint,
  type VerifierKey,
  verifyCosignature,
  verifyNote,
} from '../../client/src/note.ts'
import { formatCount, formatExactInstant, inSeries } from '../src/ui/format.ts'
import { isolated } from '../src/ui/isolate.ts'
import type { Finding, Worth } from './finding.ts'
import type { KindOf } from './given.ts'

/** A checkpoint, and what its signatures are worth. */
export interface CheckedCheckpoint extends Checkpoint {
  name: string
  finding: Finding
}

type Note = KindOf<'checkpoint'>['note']

/** Throws an Error if the note is not a checkpoint. */
export async function checkCheckpoint(
  { name, note }: KindOf<'checkpoint'>,
  logKeys: readonly VerifierKey[],
  witnessKeys: readonly VerifierKey[],
): Promise<CheckedCheckpoint> {
  const checkpoint = readCheckpoint(note.text)
  const { origin, size, root } = checkpoint
  const words = `It says: the log ${isolated(origin)} has ${formatCount(size)} lines, with the root ${toBase64(root)}.`
  const signed = await signatureOf(note, origin, logKeys)
  const cosigned = await cosignaturesOf(note, witnessKeys)
  const isSigned = signed.proven.length > 0
  const finding: Finding = {
    title: `Checkpoint of ${origin}, ${formatCount(size)} lines (${name})`,
    proven: isSigned ? [...signed.proven, words, ...cosigned.proven] : [],
    wrong: [...signed.wrong, ...cosigned.wrong],
    missing: isSigned ? cosigned.missing : [words, ...signed.missing, ...cosigned.missing],
    beyond: isSigned ? limitsOf(note, [...logKeys, ...witnessKeys], cosigned.proven.length > 0) : [],
  }
  return { ...checkpoint, name, finding }
}

type Signed = Omit<Worth, 'beyond'>

async function signatureOf(note: Note, origin: string, logKeys: readonly VerifierKey[]): Promise<Signed> {
  if (logKeys.length === 0) {
    return { proven: [], wrong: [], missing: ['None of this is proven yet. Add the key of the log.'] }
  }
  // The name of a log is that of its keys (tlog-checkpoint).
  const own = logKeys.filter(({ name }) => name === origin)
  const worth: Signed = { proven: [], wrong: [], missing: [] }
  for (const key of own) {
    const called = `The key ${isolated(`${key.name}+${key.id}`)}`
    if (!isNamedIn(note, key)) continue
    if (await verifyNote(note, [key]))
      worth.proven.push(`${called} signed this checkpoint. Nobody has changed it since.`)
    else worth.wrong.push(`${called} did not sign this: it was altered.`)
  }
  if (worth.proven.length + worth.wrong.length === 0) {
    worth.wrong.push(
      `None of the keys that you added signed it. They are not those of ${isolated(origin)}, or of another time.`,
    )
  }
  return worth
}

async function cosignaturesOf(note: Note, witnessKeys: readonly VerifierKey[]): Promise<Signed> {
  const worth: Signed = { proven: [], wrong: [], missing: [] }
  for (const key of witnessKeys) {
    const witness = `The witness ${isolated(key.name)}`
    const seconds = await verifyCosignature(note, key)
    if (seconds !== undefined) {
      const instant = formatExactInstant(new Date(seconds * 1000).toISOString())
      worth.proven.push(
        `${witness} cosigned it on ${instant}: it vouches that the log had only grown until then.`,
      )
    } else if (isNamedIn(note, key))
      worth.wrong.push(`${witness} did not cosign this: its cosignature does not hold.`)
    else worth.missing.push(`${witness} has not cosigned it.`)
  }
  return worth
}

const isNamedIn = ({ signatures }: Note, { name, id }: VerifierKey) =>
  signatures.some((signature) => signature.name === name && signature.id === id)

function limitsOf({ signatures }: Note, keys: readonly VerifierKey[], isCosigned: boolean): string[] {
  const isKnown = (signature: Note['signatures'][number]) =>
    keys.some(({ name, id }) => name === signature.name && id === signature.id)
  const others = new Set(signatures.filter((one) => !isKnown(one)).map(({ name }) => isolated(name)))
  return [
    'That the keys belong to the log and its witnesses. Only you know where they are from.',
    ...(others.size > 0 ? [`That ${inSeries([...others])} signed it too. You added no key of theirs.`] : []),
    ...(isCosigned ? [] : ['That everybody is shown the same log. The cosignature of a witness shows it.']),
  ]
}
