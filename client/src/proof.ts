import { type Bytes, bytesOf, fromBase64, join, leafOf } from './bytes.ts'
import { canonicalJson } from './canonical.ts'
import {
  type Checkpoint,
  readCheckpoint,
  readNote,
  spellProof,
  type VerifierKey,
  verifyCosignature,
  verifyNote,
} from './note.ts'
import type { Statement } from './receipt.ts'
import { rootFrom } from './tree.ts'

/** Where a line of the log is, as a receipt shows it. */
type Placed = Pick<Statement, 'line' | 'proof' | 'checkpoint'>

/** What vouches for a checkpoint. */
export interface Vouched extends Checkpoint {
  /** Whether a key of the log signed it. */
  isSigned: boolean
  /** The witnesses that saw it, with the time of each in seconds since 1970. */
  cosigned: { name: string; seconds: number }[]
}

/**
 * Follows the path from the line of a receipt to the root of its checkpoint, and says what vouches for that:
 * keys of the log, and witnesses. Throws an Error that says what is wrong. Whether the receipt itself is
 * signed is for `verifyReceipt`.
 */
export async function verifyLineProof(statement: Placed, keys: readonly VerifierKey[]): Promise<Vouched> {
  const note = readNote(statement.checkpoint)
  const checkpoint = readCheckpoint(note.text)
  const { origin, size, root } = checkpoint
  const leaf = leafOf(hashedTextOf(statement))
  const path = statement.proof.map(async (hash) => fromBase64(hash))
  const reached = await rootFrom(leaf, { index: statement.line.sequence - 1, size, path }, join)
  if (reached === undefined || !isSame(reached, root)) {
    throw new Error(`line ${statement.line.sequence} is not in the log that the checkpoint is about`)
  }
  const isSigned = await verifyNote(
    note,
    keys.filter(({ name }) => name === origin),
  )
  const seen = keys.map(async (key) => ({ name: key.name, seconds: await verifyCosignature(note, key) }))
  const cosigned = (await Promise.all(seen)).flatMap(({ name, seconds }) =>
    seconds === undefined ? [] : [{ name, seconds }],
  )
  return { ...checkpoint, isSigned, cosigned }
}

/** The same as a tlog-proof (c2sp.org), for other people's software. */
export function spellLineProof({ line, proof, checkpoint }: Placed): string {
  const extra = bytesOf(hashedTextOf({ line }))
  return spellProof({ extra, index: line.sequence - 1, path: proof.map(fromBase64), checkpoint })
}

/** What the leaf of a line covers: neither its text nor its hash, so that a text can be erased. */
function hashedTextOf({ line }: Pick<Placed, 'line'>): string {
  const { hash: _, text: __, textSalt: ___, ...hashed } = line
  return canonicalJson(hashed)
}

const isSame = (one: Bytes, other: Bytes) => one.every((byte, index) => byte === other[index])
