import { bytesOf, join, leafOf, toHex } from './bytes.ts'
import { canonicalJson } from './canonical.ts'
import { type LogLine, namesIn, valueIn } from './line.ts'
import {
  type Checkpoint,
  type Note,
  type Proof,
  readCheckpoint,
  readHash,
  readNote,
  spellProof,
  type VerifierKey,
  verifyCosignature,
  verifyNote,
} from './note.ts'
import type { Statement } from './receipt.ts'
import { rootFrom } from './tree.ts'

/** A checkpoint, and what some given keys say of it. Keys of other logs say nothing. */
export interface Vouched extends Checkpoint {
  /** The keys of the log that signed it. */
  signed: VerifierKey[]
  /** The witnesses that cosigned it, each with the time in seconds since 1970. */
  cosigned: { key: VerifierKey; seconds: number }[]
  /** The keys whose name is on a signature that they did not make. */
  forged: VerifierKey[]
}

/** Throws an Error if the note is not a checkpoint. */
export async function vouchedBy(note: Note, keys: readonly VerifierKey[]): Promise<Vouched> {
  const checkpoint = readCheckpoint(note.text)
  const vouched: Vouched = { ...checkpoint, signed: [], cosigned: [], forged: [] }
  for (const key of keys) {
    // The name of a log is that of its keys (tlog-checkpoint).
    const isAsked = key.type === 'cosignature/v1' || key.name === checkpoint.origin
    if (!isAsked || !isNamedIn(note, key)) continue
    const seconds = await verifyCosignature(note, key)
    if (seconds !== undefined) vouched.cosigned.push({ key, seconds })
    else if (await verifyNote(note, [key])) vouched.signed.push(key)
    else vouched.forged.push(key)
  }
  return vouched
}

const isNamedIn = ({ signatures }: Note, { name, id }: VerifierKey) =>
  signatures.some((signature) => signature.name === name && signature.id === id)

/**
 * Follows the path from the line that a proof has as its `extra` to the root of its checkpoint, and says what
 * vouches for that. Throws an Error that says what is wrong.
 */
export async function verifyProof(
  { extra, index, path, checkpoint }: Proof,
  keys: readonly VerifierKey[],
): Promise<Vouched> {
  if (extra === undefined) throw new Error('the proof does not say what the line is')
  const vouched = await vouchedBy(readNote(checkpoint), keys)
  const { root, size } = vouched
  const nodes = path.map((hash) => Promise.resolve(hash))
  const reached = await rootFrom(leafOf(extra), { index, size, path: nodes }, join)
  if (reached === undefined || toHex(reached) !== toHex(root)) {
    throw new Error(`line ${index + 1} is not in the log that the checkpoint is about`)
  }
  const [forged] = vouched.forged
  if (forged !== undefined) throw new Error(`the signature of ${forged.name} is false`)
  return vouched
}

/** Where a line of the log is, as a receipt shows it. */
type Placed = Pick<Statement, 'line' | 'proof' | 'checkpoint'>

/**
 * The same for a receipt. Whether the receipt itself is signed is for `verifyReceipt`. Throws an Error that
 * says what is wrong, as when the line is not the approval that the receipt is about.
 */
export async function verifyLineProof(statement: Statement, keys: readonly VerifierKey[]): Promise<Vouched> {
  const { line } = statement
  const vouched = await verifyProof(proofOf(statement), keys)
  if (toHex(await leafOf(hashedBytesOf(line))) !== line.hash || !isApproval(statement)) {
    throw new Error(`line ${line.sequence} of the log is something else than this approval`)
  }
  return vouched
}

function isApproval({ line, order, approvals }: Statement): boolean {
  const customer = valueIn(line, 'customer') ?? order.customer
  const logged = [line.kind, line.subject.id, namesIn(line).by, customer, line.data.total]
  const said = ['approved', order.id, approvals.at(-1)?.by, order.customer, order.total]
  return JSON.stringify(logged) === JSON.stringify(said)
}

/** The same as a tlog-proof (c2sp.org), for other people's software. */
export const spellLineProof = (placed: Placed): string => spellProof(proofOf(placed))

function proofOf({ line, proof, checkpoint }: Placed): Proof {
  const path = proof.map((hash) => readHash('a hash', hash))
  return { extra: hashedBytesOf(line), index: line.sequence - 1, path, checkpoint }
}

/** The part of a line that its leaf covers. */
function hashedBytesOf({ hash: _, clear: __, ...hashed }: LogLine) {
  return bytesOf(canonicalJson(hashed))
}
