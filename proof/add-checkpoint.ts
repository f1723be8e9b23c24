import { type Bytes, toBase64 } from './bytes.ts'
import { type Note, readHash, readNote, readNumber, spellNote } from './note.ts'

/** The body of `add-checkpoint` (tlog-witness): a checkpoint, and that the tree only grew since `from`. */
export interface AddCheckpoint {
  /** The size that the witness cosigned last. */
  from: number
  /** The proof of consistency (RFC 9162 §2.1.4). */
  path: Bytes[]
  note: Note
}

const mostHashes = 63

export const spellRequest = ({ from, path, note }: AddCheckpoint) =>
  `${[`old ${from}`, ...path.map(toBase64), ''].join('\n')}\n${spellNote(note)}`

/** The body of 409: the size that the witness cosigned last. */
export const spellSize = (size: number) => `${size}\n`

export function readSize(body: string): number {
  if (!body.endsWith('\n')) throw new Error('a size must end with a line feed')
  return readNumber('a size', body.slice(0, -1))
}

/** Throws an Error that names the part and its rule. */
export function readRequest(body: string): AddCheckpoint {
  const end = body.indexOf('\n\n') + 1
  if (end === 0) throw new Error('a request must have an empty line before its checkpoint')
  const [old, ...path] = body.slice(0, end - 1).split('\n')
  if (!old?.startsWith('old ')) throw new Error('a request must begin with the old size')
  if (path.length > mostHashes) throw new Error(`a request must have at most ${mostHashes} hashes`)
  return {
    from: readNumber('the old size', old.slice(4)),
    path: path.map((hash) => readHash('a hash', hash)),
    note: readNote(body.slice(end + 1)),
  }
}
