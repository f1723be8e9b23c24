import { bytesOf, join, leafOf, toHex } from './bytes.ts'
import { canonicalJson } from './canonical.ts'
import {
  type Checkpoint,
  canCheck,
  isOfLog,
  type Note,
  type Proof,
  readCheckpoint,
  readHash,
  signaturesBy,
  spellProof,
  type VerifierKey,
  verifyCosignature,
  verifyNote,
} from './note.ts'
import type { PlacedLine } from './receipt.ts'
import { rootFrom } from './tree.ts'

/** A checkpoint, and what some given keys say of it. Keys of other logs say nothing. */
export interface Vouched extends Checkpoint {
  /** The keys of the log that signed it. */
  signed: VerifierKey[]
  /** The witnesses that cosigned it, each with the time in seconds since 1970. */
  cosigned: { key: VerifierKey; seconds: number }[]
  /** The keys whose name is on a signature that they did not make. */
  forged: VerifierKey[]
  /** The keys whose name is on a signature of a kind that cannot be checked here. */
  unchecked: VerifierKey[]
}

/** Throws an Error if the note is not a checkpoint. */
export async function vouchedBy(note: Note, keys: readonly VerifierKey[]): Promise<Vouched> {
  const checkpoint = readCheckpoint(note.text)
  const vouched: Vouched = { ...checkpoint, signed: [], cosigned: [], forged: [], unchecked: [] }
  for (const key of keys) {
    // The name of a log is that of its keys (tlog-checkpoint).
    const isAsked = !isOfLog(key) || key.name === checkpoint.origin
    if (!isAsked || signaturesBy(note, key).length === 0) continue
    if (!(await canCheck(key))) {
      vouched.unchecked.push(key)
      continue
    }
    const seconds = await verifyCosignature(note, key)
    if (seconds !== undefined) vouched.cosigned.push({ key, seconds })
    else if (await verifyNote(note, [key])) vouched.signed.push(key)
    else vouched.forged.push(key)
  }
  return vouched
}

/** Throws an Error unless the path leads from the line of the proof to the root of the checkpoint. */
export async function follow({ extra, index, path }: Proof, { root, size }: Checkpoint): Promise<void> {
  if (extra === undefined) throw new Error('the proof does not say what the line is')
  const nodes = path.map((hash) => Promise.resolve(hash))
  const reached = await rootFrom(leafOf(extra), { index, size, path: nodes }, join)
  if (reached === undefined || toHex(reached) !== toHex(root)) {
    throw new Error(`line ${index + 1} is not in the log that the checkpoint is about`)
  }
}

/** A line with its place, as a tlog-proof (c2sp.org) for other people's software. */
export const spellLineProof = (placed: PlacedLine, checkpoint: string) =>
  spellProof(proofOf(placed, checkpoint))

export function proofOf({ line, proof }: PlacedLine, checkpoint: string): Proof {
  const path = proof.map((hash) => readHash('a hash', hash))
  const { hash: _, clear: __, ...hashed } = line
  return { extra: bytesOf(canonicalJson(hashed)), index: line.sequence - 1, path, checkpoint }
}
