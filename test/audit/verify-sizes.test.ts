// engine: none
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { LogLine } from '../../proof/line.ts'
import { type SignedHead, verifyLog } from '../../proof/log.ts'
import { isLong } from '../support/faults.ts'
import { numbersFrom } from '../support/forgeries.ts'
import { exportOf, headOf, inPortions, type LogContent, makeLog, orderEvent } from '../support/log.ts'

const seed = 31

/** Around the size of a tile, where the tree gets another level; the long form has more. */
const sizes = isLong ? [0, 1, 255, 256, 257, 70_000] : [0, 1, 257]

const contentAt = (index: number): LogContent => ({
  ...orderEvent,
  data: { total: String(index) },
})

interface Made {
  lines: LogLine[]
  bytes: Buffer
  /** The whole log, two thirds of it and one third. */
  heads: SignedHead[]
}

const made = new Map<number, Made>()

/** Each log is made once. */
function logOf(size: number): Made {
  const kept = made.get(size)
  if (kept !== undefined) return kept
  const lines = makeLog(Array.from({ length: size }, (_, index) => contentAt(index)))
  const sizes = new Set([size, Math.ceil((2 * size) / 3), Math.ceil(size / 3)])
  const heads = [...sizes].map((each) => ({ ...headOf(lines.slice(0, each)), era: 1 }))
  const log = { lines, bytes: exportOf(lines), heads }
  made.set(size, log)
  return log
}

const verify = ({ heads }: Made, given: LogLine[] | Buffer) =>
  verifyLog(inPortions(Buffer.isBuffer(given) ? given : exportOf(given)), heads)

/** The line of this place, changed, with the hash of its new content. */
const rewritten = (index: number) => makeLog([{ ...contentAt(index), byId: 99 }], index + 1)[0] as LogLine

/** How many lines end before this byte. */
function linesBefore(bytes: Buffer, end: number): number {
  let count = 0
  for (let at = bytes.indexOf(0x0a); at >= 0 && at < end; at = bytes.indexOf(0x0a, at + 1)) count += 1
  return count
}

for (const size of sizes) {
  it(`log verify accepts ${size} lines, and takes one after every checkpoint for a newer one`, async () => {
    const log = logOf(size)
    const { fault, head, checkpoints } = await verify(log, [...log.lines, ...makeLog([orderEvent], size + 1)])
    assert.deepEqual([fault, head.size], [null, size + 1])
    assert.deepEqual(new Set(checkpoints), new Set(['agrees']))
  })
}

for (const size of sizes.slice(1)) {
  const flips = size > 1_000 ? 2 : 40
  describe(`log verify of ${size} lines`, () => {
    const pick = numbersFrom(seed + size)
    let log: Made
    before(() => {
      log = logOf(size)
    })

    it('names the line in which a byte was changed', async () => {
      for (let round = 0; round < flips; round += 1) {
        const [at, flip] = [pick(log.bytes.length), 1 + pick(255)]
        const changed = Buffer.from(log.bytes)
        changed.writeUInt8(changed.readUInt8(at) ^ flip, at)
        const { fault } = await verify(log, changed)
        assert.equal(fault?.sequence, linesBefore(log.bytes, at) + 1, `byte ${at} ^ ${flip}`)
      }
    })

    it('names the place of a line that was removed, or says that the end is missing', async () => {
      const at = pick(size)
      const { fault, checkpoints } = await verify(log, log.lines.toSpliced(at, 1))
      assert.equal(fault?.sequence, at === size - 1 ? undefined : at + 1)
      assert.equal(checkpoints[0], 'beyond')
    })

    it('notices that the end was cut off, within a line or between two', async () => {
      const end = pick(log.bytes.length)
      const { fault, checkpoints } = await verify(log, log.bytes.subarray(0, end))
      assert.equal(fault?.sequence, linesBefore(log.bytes, end) + 1, `cut at ${end}`)
      assert.equal(checkpoints[0], 'beyond')
      const whole = await verify(log, log.lines.slice(0, -1))
      assert.deepEqual([whole.fault, whole.checkpoints[0]], [null, 'beyond'])
    })

    it('names the line after one that was inserted, even if that fits its place', async () => {
      const at = pick(size)
      const { fault } = await verify(log, log.lines.toSpliced(at, 0, rewritten(at)))
      assert.equal(fault?.sequence, at + 2)
    })

    it('notices a line that was rewritten with its hash, from each checkpoint over it', async () => {
      const at = pick(size)
      const { fault, checkpoints } = await verify(log, log.lines.with(at, rewritten(at)))
      assert.equal(fault, null)
      const expected = log.heads.map((head) => (head.size <= at ? 'agrees' : 'disagrees'))
      assert.deepEqual(checkpoints, expected)
    })
  })
}

for (const size of sizes.slice(2)) {
  it(`log verify of ${size} lines names the first of two that were swapped`, async () => {
    const [log, pick] = [logOf(size), numbersFrom(seed)]
    const first = pick(size - 1)
    const second = first + 1 + pick(size - 1 - first)
    const { lines } = log
    const swapped = lines.with(first, lines[second] as LogLine).with(second, lines[first] as LogLine)
    assert.equal((await verify(log, swapped)).fault?.sequence, first + 1)
  })
}
