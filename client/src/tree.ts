/**
 * The Merkle tree of RFC 9162 §2.1: one hash, the root, stands for a list of entries in their order. To show
 * that an entry is in the list takes only the neighbours of the way from its leaf to the root.
 *
 * A node is whatever `join` makes of two: bytes where hashing is synchronous (node:crypto), promises of bytes
 * where it is not (Web Crypto). A leaf is SHA-256 of the byte 0x00 and the entry, a node above is that of the
 * byte 0x01 and its two parts, so that no entry can pass for a node.
 */
export type Join<Node> = (left: Node, right: Node) => Node

/** How many leaves the left part of a tree of this size has: the largest power of two below the size. */
function leftPart(size: number): number {
  let left = 1
  while (left * 2 < size) left *= 2
  return left
}

/** The root over one leaf or more. Throws a RangeError for none. */
export function rootOf<Node>(leaves: readonly Node[], join: Join<Node>): Node {
  const [first] = leaves
  if (first === undefined) throw new RangeError('a tree has at least one leaf')
  if (leaves.length === 1) return first
  const left = leftPart(leaves.length)
  return join(rootOf(leaves.slice(0, left), join), rootOf(leaves.slice(left), join))
}

/** The path of a leaf (§2.1.3.1): the neighbours of its way to the root, from the bottom up. */
export function pathOf<Node>(leaves: readonly Node[], index: number, join: Join<Node>): Node[] {
  if (leaves.length === 1) return []
  const left = leftPart(leaves.length)
  const [before, after] = [leaves.slice(0, left), leaves.slice(left)]
  return index < left
    ? [...pathOf(before, index, join), rootOf(after, join)]
    : [...pathOf(after, index - left, join), rootOf(before, join)]
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
  const sides = sidesOf(index, size)
  if (sides.length !== path.length) return undefined
  return path.reduce((node, beside, at) => (sides[at] ? join(beside, node) : join(node, beside)), leaf)
}

/** Whether the neighbour is on the left, for each step of a leaf's way to the root, from the bottom up. */
function sidesOf(index: number, size: number): boolean[] {
  if (size === 1) return []
  const left = leftPart(size)
  return index < left ? [...sidesOf(index, left), false] : [...sidesOf(index - left, size - left), true]
}
