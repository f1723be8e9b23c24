import type { LogLine } from '../../../proof/line.ts'
import { type Head, rootOver } from '../../../proof/log-tree.ts'
import { readNote } from '../../../proof/note.ts'
import type { Receipt } from '../../../proof/receipt.ts'
import { consistencyRanges, inclusionRanges } from '../../../proof/tree.ts'
import type { AppDatabase } from '../../db/port.ts'
import type { Db } from '../../db/tables.ts'
import { Problem } from '../../problems/problems.ts'
import { headOfLog, readTile } from '../lines/store.ts'
import { refuseContradicted } from '../sealing/contradiction.ts'
import { type LogKeys, originOf, publicKeysOf, signCheckpoint } from './checkpoints.ts'
import { cosignedCheckpoint } from './store.ts'

/** What to prove of the first `size` events: that one of them is there, or that they continue the first. */
export interface ProofRequest {
  sequence: number | undefined
  from: number | undefined
  size: number | undefined
}

/**
 * The hashes in base64, from the bottom up. Sealed lines never change, so sealing meanwhile does no harm.
 * Throws `validation-failed` for what cannot be proved.
 */
export async function proofOf(db: Db, { sequence, from, size }: ProofRequest): Promise<string[]> {
  const refuse = (parameter: string, code: string, rule: string): never => {
    throw new Problem('validation-failed', { errors: [{ parameter, code, detail: `${parameter} ${rule}` }] })
  }
  if (size === undefined) return refuse('size', 'required', 'is required.')
  if (from !== undefined && sequence !== undefined) {
    return refuse('from', 'conflict', 'cannot be used with sequence.')
  }
  const first = sequence ?? from ?? refuse('sequence', 'required', 'is required, or from.')
  const head = await headOfLog(db)
  if (size > head.size)
    return refuse('size', 'maximum', `must be at most ${head.size}, the events of the log.`)
  const name = from === undefined ? 'sequence' : 'from'
  if (first > size) return refuse(name, 'maximum', `must be at most size, ${size}.`)
  return hashesOver(
    db,
    from === undefined ? inclusionRanges(first - 1, size) : consistencyRanges(first, size),
  )
}

export interface CheckpointParts {
  db: AppDatabase
  keys: LogKeys
  publicUrl: () => string
}

/** The checkpoint of the log as it is now. Throws `log-contradicted` while the log is stopped. */
export async function newestCheckpoint({
  db,
  keys,
  publicUrl,
}: CheckpointParts): Promise<Head & { checkpoint: string }> {
  await refuseContradicted(db.read)
  const { era, ...head } = await headOfLog(db.read)
  return { ...head, checkpoint: await signCheckpoint(keys, originOf(publicUrl(), era), head) }
}

export interface ServedParts extends CheckpointParts {
  isWitnessed: boolean
}

/** The newest checkpoint that covers the line and that a quorum of witnesses cosigned. */
export async function cosignedOver(
  { db, isWitnessed }: ServedParts,
  sequence: number,
): Promise<{ size: number; checkpoint: string } | undefined> {
  const cosigned = isWitnessed ? await cosignedCheckpoint(db.read) : undefined
  const { era, size } = await headOfLog(db.read)
  const covers = cosigned?.era === era && sequence <= cosigned.size && cosigned.size <= size
  return covers ? cosigned : undefined
}

/** Each line with its path to the root of such a checkpoint, or else of the newest. */
export async function placeLines(
  parts: ServedParts,
  lines: readonly LogLine[],
): Promise<Pick<Receipt, 'lines' | 'checkpoint'>> {
  const { size, checkpoint } = (await cosignedOver(parts, lastOf(lines))) ?? (await newestCheckpoint(parts))
  const placed = lines.map(async (line) => {
    return { line, proof: await hashesOver(parts.db.read, inclusionRanges(line.sequence - 1, size)) }
  })
  return { lines: await Promise.all(placed), checkpoint }
}

const lastOf = (lines: readonly LogLine[]) => lines.at(-1)?.sequence ?? 0

/**
 * Whether the checkpoint of a receipt of these lines is signed by a key that is published now, and has
 * cosignatures or could not have any yet.
 */
export async function isCheckpointCurrent(
  parts: ServedParts,
  checkpoint: string,
  lines: readonly LogLine[],
): Promise<boolean> {
  const { era } = await headOfLog(parts.db.read)
  const origin = originOf(parts.publicUrl(), era)
  const keys = await publicKeysOf(parts.keys, origin)
  const { signatures } = readNote(checkpoint)
  if (!signatures.some(({ name, id }) => keys.some((key) => key.name === name && key.id === id))) return false
  const isCosigned = signatures.some(({ name }) => name !== origin)
  return !parts.isWitnessed || isCosigned || !(await cosignedOver(parts, lastOf(lines)))
}

/** The roots of these ranges. Each tile is read once. */
async function hashesOver(db: Db, ranges: ReturnType<typeof inclusionRanges>): Promise<string[]> {
  const tiles = new Map<string, Promise<string[]>>()
  const read = (level: number, number: number) => {
    const place = `${level}/${number}`
    const tile = tiles.get(place) ?? readTile(db, level, number)
    tiles.set(place, tile)
    return tile
  }
  const hashes: string[] = []
  for (const range of ranges) hashes.push(await rootOver(range, read))
  return hashes.map((hash) => Buffer.from(hash, 'hex').toString('base64'))
}
