/**
 * The Merkle tree of RFC 9162 §2.1: one hash, the root, stands for a list of entries in their order. Some
 * twenty hashes show that an entry is among a million (inclusion), or that a list only grew (consistency).
 *
 * A node is whatever `join` makes of two: bytes where hashing is synchronous (node:crypto), promises of bytes
 * where it is not (Web Crypto). A leaf is SHA-256 of the byte 0x00 and the entry, a node above is that of the
 * byte 0x01 and its two parts, so that no entry can pass for a node.
 */
export type Join<Node> = (left: Node, right: Node) => Node

/** Leaves from `begin`, which is included, to `end`, which is not. A proof is the roots of some ranges. */
export type Range = readonly [begin: number, end: number]

/**
 * Where a tree over a range divides: its left part has the largest power of two of leaves that leaves one
 * over.
 */
function middleOf([begin, end]: Range): number {
  let left = 1
  while (left * 2 < end - begin) left *= 2
  return begin + left
}

/** The root over one leaf or more. Throws a RangeError for none. */
export function rootOf<Node>(leaves: readonly Node[], join: Join<Node>): Node {
  const [first] = leaves
  if (first === undefined) throw new RangeError('a tree has at least one leaf')
  if (leaves.length === 1) return first
  const middle = middleOf([0, leaves.length])
  return join(rootOf(leaves.slice(0, middle), join), rootOf(leaves.slice(middle), join))
}

/** The neighbours of a leaf's way to the root, from the bottom up: its proof of inclusion (§2.1.3.1). */
export function inclusionRanges(index: number, size: number): Range[] {
  return stepsOf(index, [0, size]).map(({ range }) => range)
}

/** The path of a leaf: the roots of its ranges, where all leaves are at hand. */
export function pathOf<Node>(leaves: readonly Node[], index: number, join: Join<Node>): Node[] {
  return inclusionRanges(index, leaves.length).map(([begin, end]) => rootOf(leaves.slice(begin, end), join))
}

/**
 * The root that a leaf and its path lead to (§2.1.3.2). Undefined if no tree of this size has a leaf at this
 * index with a path of this length.
 */
export function rootFrom<Node>(
  leaf: Node,
  { index, size, path }: { index: number; size: number; path: readonly Node[] },
  join: Join<Node>,
): Node | undefined {
  if (!(Number.isSafeInteger(size) && Number.isSafeInteger(index) && index >= 0 && index < size)) {
    return undefined
  }
  const steps = stepsOf(index, [0, size])
  if (steps.length !== path.length) return undefined
  return path.reduce((node, other, at) => (steps[at]?.isLeft ? join(other, node) : join(node, other)), leaf)
}

/** The neighbours of a leaf's way to the root, and whether each is on the left. */
function stepsOf(index: number, [begin, end]: Range): { range: Range; isLeft: boolean }[] {
  if (end - begin === 1) return []
  const middle = middleOf([begin, end])
  return index < middle
    ? [...stepsOf(index, [begin, middle]), { range: [middle, end], isLeft: false }]
    : [...stepsOf(index, [middle, end]), { range: [begin, middle], isLeft: true }]
}

/**
 * The ranges whose roots lead to the root of the first `from` leaves and to that of all (§2.1.4.1), from the
 * bottom up. `from` is at least 1.
 */
export function consistencyRanges(from: number, size: number): Range[] {
  return rangesUpTo(from, [0, size])
}

function rangesUpTo(from: number, [begin, end]: Range): Range[] {
  // A verifier knows the root of the first `from` leaves, so the proof need not have it.
  if (from === end) return begin === 0 ? [] : [[begin, end]]
  const middle = middleOf([begin, end])
  return from <= middle
    ? [...rangesUpTo(from, [begin, middle]), [middle, end]]
    : [...rangesUpTo(from, [middle, end]), [begin, middle]]
}

/**
 * The two roots that a proof of consistency leads to (§2.1.4.2), given the root of the first `from` leaves.
 * The tree only grew if the first is that root and the second the root of all. Undefined if no such proof has
 * this length.
 */
export function rootsFrom<Node>(
  fromRoot: Node,
  { from, size, path }: { from: number; size: number; path: readonly Node[] },
  join: Join<Node>,
): { from: Node; size: Node } | undefined {
  if (!(Number.isSafeInteger(from) && Number.isSafeInteger(size) && from >= 1 && from <= size)) {
    return undefined
  }
  if (consistencyRanges(from, size).length !== path.length) return undefined
  const rest = [...path]
  const next = () => rest.shift() as Node
  const climb = ([begin, end]: Range): { from: Node; size: Node } => {
    if (from === end) {
      const node = begin === 0 ? fromRoot : next()
      return { from: node, size: node }
    }
    const middle = middleOf([begin, end])
    if (from <= middle) {
      const left = climb([begin, middle])
      return { from: left.from, size: join(left.size, next()) }
    }
    const right = climb([middle, end])
    const left = next()
    return { from: join(left, right.from), size: join(left, right.size) }
  }
  return climb([0, size])
}

/**
 * A tree that grows without its leaves: it keeps the roots of the full trees that its size is made of, the
 * largest first, one for each 1 of the size in binary. A leaf costs about one `join`.
 */
export class GrowingTree<Node> {
  size: number
  #edge: Node[]
  #join: Join<Node>

  constructor({ size, edge }: { size: number; edge: readonly Node[] }, join: Join<Node>) {
    this.size = size
    this.#edge = [...edge]
    this.#join = join
  }

  /** Adds a leaf. Returns the full trees that it completes: the leaf itself, then each of twice the size. */
  add(leaf: Node): Node[] {
    const completed = [leaf]
    let node = leaf
    for (let rest = this.size; rest % 2 === 1; rest = (rest - 1) / 2) {
      node = this.#join(this.#edge.pop() as Node, node)
      completed.push(node)
    }
    this.#edge.push(node)
    this.size += 1
    return completed
  }

  get edge(): readonly Node[] {
    return this.#edge
  }

  /** Undefined without a leaf. */
  get root(): Node | undefined {
    return this.#edge.reduceRight<Node | undefined>(
      (right, left) => (right === undefined ? left : this.#join(left, right)),
      undefined,
    )
  }
}
