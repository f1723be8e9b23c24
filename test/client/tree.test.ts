// engine: none
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { consistencyRanges, GrowingTree, pathOf, rootFrom, rootOf, rootsFrom } from '../../proof/tree.ts'
import { forAll } from '../support/for-all.ts'

const hash = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest('hex')
const bytes = (hex: string) => Buffer.from(hex, 'hex')
const leafOf = (hex: string) => hash(Buffer.of(0), bytes(hex))
const join = (left: string, right: string) => hash(Buffer.of(1), bytes(left), bytes(right))

/** The entries of Certificate Transparency's tests, and the root over the first one, two and so on. */
const entries = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657']
const leaves = [...entries, '606162636465666768696a6b6c6d6e6f'].map(leafOf)
const roots = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]
const [first, firstTwo] = roots
const second = '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7'
const fifth = 'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b'
const thirdAndFourth = '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e'
const lastTwo = 'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0'
const lastFour = '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4'
/** Published paths. */
const paths = [
  { index: 0, size: 1, path: [] },
  { index: 0, size: 2, path: [second] },
  { index: 1, size: 2, path: [first] },
  { index: 2, size: 3, path: [firstTwo] },
  { index: 1, size: 5, path: [first, thirdAndFourth, fifth] },
  { index: 0, size: 8, path: [second, thirdAndFourth, lastFour] },
  { index: 5, size: 8, path: [fifth, lastTwo, roots[3]] },
]

const fifthAndSixth = '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a'
/** Published proofs that the first leaves are still the first. */
const proofs = [
  { from: 1, size: 1, path: [] },
  { from: 1, size: 8, path: [second, thirdAndFourth, lastFour] },
  { from: 6, size: 8, path: [fifthAndSixth, lastTwo, roots[3]] },
  { from: 2, size: 5, path: [thirdAndFourth, fifth] },
]

/** A node that shows how it was joined. */
const shown = (left: string, right: string) => `(${left} ${right})`
const numbered = (size: number) => Array.from({ length: size }, (_, index) => String(index))

/** The check of RFC 9162 §2.1.3.2 in its own steps. */
function rootBySteps(leaf: string, index: number, size: number, path: readonly string[]): string | undefined {
  let [place, last, node] = [index, size - 1, leaf]
  if (index >= size) return undefined
  for (const beside of path) {
    if (last === 0) return undefined
    if (place % 2 === 1 || place === last) {
      node = shown(beside, node)
      while (place % 2 === 0 && place > 0) [place, last] = [place >> 1, last >> 1]
    } else node = shown(node, beside)
    ;[place, last] = [place >> 1, last >> 1]
  }
  return last === 0 ? node : undefined
}

describe('the tree of RFC 9162', () => {
  it('has the roots and paths that are published', () => {
    const made = leaves.map((_, index) => rootOf(leaves.slice(0, index + 1), join))
    assert.deepEqual(made, roots)
    for (const { index, size, path } of paths) {
      assert.deepEqual(pathOf(leaves.slice(0, size), index, join), path)
    }
    assert.throws(() => rootOf([], join), RangeError)
  })

  it('leads from each leaf and its path to the root', () => {
    forAll(200, fc.integer({ min: 1, max: 300 }), fc.nat(), (size, any) => {
      const [all, index] = [numbered(size), any % size]
      const path = pathOf(all, index, shown)
      const root = rootOf(all, shown)
      assert.equal(rootFrom(String(index), { index, size, path }, shown), root)
      assert.equal(rootBySteps(String(index), index, size, path), root)
    })
  })

  it('leads where the steps of the standard lead, and nowhere where they refuse', () => {
    const path = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 8 })
    forAll(5000, fc.nat(70), fc.nat(70), path, (index, size, path) => {
      assert.equal(rootFrom('x', { index, size, path }, shown), rootBySteps('x', index, size, path))
    })
  })

  it('has no leaf at a place that is no place', () => {
    const places: [index: number, size: number][] = [
      [-1, 2],
      [2, 2],
      [0.5, 2],
      [0, 1.5],
      [0, 0],
      [0, Number.NaN],
      [0, Number.POSITIVE_INFINITY],
      [0, 2 ** 60],
    ]
    for (const [index, size] of places) {
      assert.equal(rootFrom('x', { index, size, path: ['a'] }, shown), undefined, `${index} ${size}`)
    }
  })
})

/** The check of RFC 9162 §2.1.4.2 in its own steps, for a list that is not empty. */
function areConsistent(
  [fromRoot, root]: [string, string],
  { from, size, path }: { from: number; size: number; path: readonly string[] },
): boolean {
  if (from === size) return path.length === 0 && fromRoot === root
  const steps = Number.isInteger(Math.log2(from)) ? [fromRoot, ...path] : [...path]
  let [place, last] = [from - 1, size - 1]
  while (place % 2 === 1) [place, last] = [place >> 1, last >> 1]
  let [old, grown] = [steps[0], steps[0]]
  for (const step of steps.slice(1)) {
    if (last === 0) return false
    if (place % 2 === 1 || place === last) {
      old = shown(step, String(old))
      grown = shown(step, String(grown))
      while (place % 2 === 0 && place > 0) [place, last] = [place >> 1, last >> 1]
    } else grown = shown(String(grown), step)
    ;[place, last] = [place >> 1, last >> 1]
  }
  return steps.length > 0 && last === 0 && old === fromRoot && grown === root
}

describe('a proof of consistency', () => {
  const proofOf = (all: readonly string[], from: number) =>
    consistencyRanges(from, all.length).map(([begin, end]) => rootOf(all.slice(begin, end), shown))

  it('is the published one', () => {
    for (const { from, size, path } of proofs) {
      const ranges = consistencyRanges(from, size)
      assert.deepEqual(
        ranges.map(([begin, end]) => rootOf(leaves.slice(begin, end), join)),
        path,
      )
      const [before, after] = [String(roots[from - 1]), roots[size - 1]]
      const steps = path.map(String)
      assert.deepEqual(rootsFrom(before, { from, size, path: steps }, join), { from: before, size: after })
    }
  })

  it('leads to the roots of both sizes', () => {
    forAll(500, fc.integer({ min: 1, max: 300 }), fc.nat(), (size, any) => {
      const [all, from] = [numbered(size), 1 + (any % size)]
      const [before, after] = [rootOf(all.slice(0, from), shown), rootOf(all, shown)]
      const path = proofOf(all, from)
      assert.deepEqual(rootsFrom(before, { from, size, path }, shown), { from: before, size: after })
      assert.equal(areConsistent([before, after], { from, size, path }), true)
    })
  })

  it('is accepted exactly where the steps of the standard accept it', () => {
    const path = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 8 })
    const size = fc.integer({ min: 1, max: 70 })
    forAll(5000, size, size, path, (from, size, path) => {
      if (from > size) return
      const made = rootsFrom('x', { from, size, path }, shown)
      if (made === undefined) {
        assert.equal(areConsistent(['x', 'y'], { from, size, path }), false)
        return
      }
      const isConsistent = areConsistent([made.from, made.size], { from, size, path })
      // The standard begins with the first root only if it is over a full tree; then `from` must be it.
      assert.equal(isConsistent, made.from === 'x' || !Number.isInteger(Math.log2(from)))
      assert.equal(areConsistent([made.from, 'other'], { from, size, path }), false)
    })
  })

  it('is none for sizes that are no sizes', () => {
    const sizes: [from: number, size: number][] = [
      [0, 2],
      [3, 2],
      [-1, 2],
      [1.5, 2],
      [1, 2.5],
      [1, Number.NaN],
      [1, 2 ** 60],
    ]
    for (const [from, size] of sizes) {
      for (let steps = 0; steps < 9; steps += 1) {
        const path = Array.from({ length: steps }, () => 'a')
        assert.equal(rootsFrom('x', { from, size, path }, shown), undefined, `${from} ${size} ${steps}`)
      }
    }
  })
})

describe('a growing tree', () => {
  it('has the root of the recursion at each size, and goes on from its edge', () => {
    assert.equal(new GrowingTree({ size: 0, edge: [] }, join).root, undefined)
    forAll(20, fc.integer({ min: 1, max: 5_000 }), fc.nat(), (size, any) => {
      const all = numbered(size).map(leafOf)
      const cut = any % size
      const first = new GrowingTree<string>({ size: 0, edge: [] }, join)
      for (const leaf of all.slice(0, cut)) first.add(leaf)
      const second = new GrowingTree(first, join)
      for (const leaf of all.slice(cut)) second.add(leaf)
      assert.deepEqual([second.size, second.root], [size, rootOf(all, join)])
      assert.equal(second.edge.length, size.toString(2).replaceAll('0', '').length)
    })
  })

  it('returns the full trees that a leaf completes', () => {
    const tree = new GrowingTree<string>({ size: 0, edge: [] }, shown)
    const completed = numbered(4).map((leaf) => tree.add(leaf))
    assert.deepEqual(completed, [['0'], ['1', '(0 1)'], ['2'], ['3', '(2 3)', '((0 1) (2 3))']])
  })
})
