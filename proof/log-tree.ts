/** The log as one Merkle tree (RFC 9162 §2.1): its lines are the leaves. Hashes are hexadecimal. */
import { sha256 } from './sha256.ts'
import { GrowingTree, type Join, type Range, rootOf } from './tree.ts'

/** The number of lines of a log, and the root over them. */
export interface Head {
  size: number
  root: string
}

const emptyRoot = sha256('')

const join: Join<string> = (left, right) => sha256(`01${left}${right}`)

/** How many trees a tile has. A full tile of a level is one tree of the next level. */
export const tileSize = 256
const levelsOfTile = Math.log2(tileSize)

/** A tile that is full: the trees of its level from `number` * 256 on, and the root over them. */
export interface Tile {
  level: number
  number: number
  root: string
}

/** Grows from a head, and notes each tile that becomes full. */
export class LogTree extends GrowingTree<string> {
  readonly tiles: Tile[] = []

  /** `joined` may be faster than the default. */
  constructor(head: { size: number; edge: readonly string[] } = { size: 0, edge: [] }, joined = join) {
    super(head, joined)
  }

  override add(hash: string): string[] {
    const completed = super.add(hash)
    let number = this.size
    for (let at = levelsOfTile; at < completed.length; at += levelsOfTile) {
      number /= tileSize
      this.tiles.push({ level: at / levelsOfTile - 1, number: number - 1, root: String(completed[at]) })
    }
    return completed
  }

  get head(): Head {
    return { size: this.size, root: this.root ?? emptyRoot }
  }
}

/**
 * The root over a range as proofs have it: the range divides into full trees, the largest first, each of
 * which begins at a multiple of its size. A full tree is read from one tile.
 */
export async function rootOver(
  [begin, end]: Range,
  readTile: (level: number, number: number) => Promise<readonly string[]>,
): Promise<string> {
  const trees: string[] = []
  for (let at = begin; at < end; ) {
    let size = 1
    while (size * 2 <= end - at) size *= 2
    let [level, width] = [0, 1]
    while (width * tileSize <= size) [level, width] = [level + 1, width * tileSize]
    const [number, place] = [Math.floor(at / width / tileSize), (at / width) % tileSize]
    const hashes = (await readTile(level, number)).slice(place, place + size / width)
    if (hashes.length < size / width) {
      throw new Error(`tile ${number} of level ${level} lacks hashes: the log was altered in the database`)
    }
    trees.push(rootOf(hashes, join))
    at += size
  }
  return trees.reduceRight((right, left) => join(left, right))
}
