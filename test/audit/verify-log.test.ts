// engine: SQLite
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { hashOf, type LogLine, textHashOf, zeroHash } from '../../server/audit/chain.ts'
import { verifyLog } from '../../server/audit/verify.ts'
import { exportOf, inPortions, type LogContent, makeLog, orderEvent } from '../support/log.ts'

const verifyBytes = (bytes: Buffer, checkpoints: { size: number; hash: string }[] = [], portion = 65_536) =>
  verifyLog(inPortions(bytes, portion), checkpoints)
const verify = (lines: LogLine[], checkpoints: { size: number; hash: string }[] = []) =>
  verifyBytes(exportOf(lines), checkpoints)
const contentOf = ({ sequence, textHash, hash, ...content }: LogLine): LogContent => content
const headOf = (lines: LogLine[]) => ({ size: lines.length, hash: lines.at(-1)?.hash ?? zeroHash })

describe('the hash of a line', () => {
  const [line] = makeLog([orderEvent])
  assert.ok(line)
  const { hash, text, textSalt, ...hashed } = line

  it('is what the contract says, in bytes', () => {
    const canonical =
      '{"atTimeZone":"Europe/Berlin","atUtc":"2026-11-22T12:00:00.000Z","by":"jo","byId":3,' +
      '"data":{"customer":"Acme","total":"12.5"},"id":"019a0000-0000-7000-8000-000000000001","kind":"noted",' +
      '"sequence":1,"subject":{"id":"019a0000-0000-7000-8000-000000000000","kind":"order"},' +
      `"textHash":"${line.textHash}","version":1}`
    const bytes = Buffer.concat([Buffer.alloc(32), Buffer.from(canonical)])
    assert.equal(hashOf(zeroHash, hashed), createHash('sha256').update(bytes).digest('hex'))
    assert.equal(hash, hashOf(zeroHash, hashed))
  })

  it('holds the text by the hash of its salt and itself', () => {
    assert.ok(text !== null && textSalt !== null)
    const bytes = Buffer.concat([Buffer.from([...Array(16).keys()]), Buffer.from(text)])
    assert.equal(textHashOf({ text, salt: textSalt }), createHash('sha256').update(bytes).digest('hex'))
    assert.equal(line.textHash, textHashOf({ text, salt: textSalt }))
  })
})

const anyText = fc.string({
  unit: fc.constantFrom('a', 'é', '😀', '"', '\\', '\n', '\u2028', '\ufffd', '\u001f'),
})
const anyContent: fc.Arbitrary<LogContent> = fc.record({
  id: fc.uuid({ version: 7 }),
  kind: fc.constantFrom('created', 'approved', 'noted', 'user-added'),
  subject: fc.record({ kind: fc.constantFrom('order', 'account'), id: fc.uuid() }),
  version: fc.option(fc.nat()),
  atUtc: fc.constant('2026-11-22T12:00:00.000Z'),
  atTimeZone: fc.option(fc.constant('Europe/Berlin')),
  by: anyText,
  byId: fc.option(fc.nat()),
  data: fc.record({ customer: anyText, total: fc.constantFrom('1', '12.5') }),
  textSalt: fc.uint8Array({ minLength: 16, maxLength: 16 }).map((salt) => Buffer.from(salt).toString('hex')),
  text: anyText,
})
const withoutText = anyContent.map((content) => ({ ...content, text: null, textSalt: null }))
const logOf = (minLength: number) =>
  fc.array(fc.oneof(anyContent, withoutText), { minLength, maxLength: 8 }).map(makeLog)
/** A log of two lines or more, and two places in it, the first before the second. */
const logAndPlaces = fc.tuple(logOf(2), fc.nat(), fc.nat()).map(([lines, one, other]) => ({
  lines,
  first: one % (lines.length - 1),
  second: (one % (lines.length - 1)) + 1 + (other % (lines.length - 1 - (one % (lines.length - 1)))),
}))

describe('log verify, of any log', () => {
  it('finds it whole, in batches of any size, and agrees with every checkpoint', async () => {
    await fc.assert(
      fc.asyncProperty(logOf(0), fc.integer({ min: 1, max: 700 }), async (lines, portion) => {
        const heads = [0, ...lines.keys()].map((_, index) => headOf(lines.slice(0, index)))
        const report = await verifyBytes(exportOf(lines), heads, portion)
        assert.deepEqual(report.fault, null)
        assert.deepEqual(report.head, headOf(lines))
        assert.deepEqual(new Set(report.checkpoints), new Set(['agrees']))
      }),
    )
  })

  it('names the line of any byte that was changed', async () => {
    await fc.assert(
      fc.asyncProperty(logOf(1), fc.nat(), fc.integer({ min: 1, max: 255 }), async (lines, at, flip) => {
        const bytes = exportOf(lines)
        const place = at % bytes.length
        const sequence = bytes.subarray(0, place).filter((byte) => byte === 0x0a).length + 1
        bytes.writeUInt8(bytes.readUInt8(place) ^ flip, place)
        assert.equal((await verifyBytes(bytes)).fault?.sequence, sequence)
      }),
      { numRuns: 1_000 },
    )
  })

  it('names the place of a line that was dropped', async () => {
    await fc.assert(
      fc.asyncProperty(logAndPlaces, async ({ lines, first }) => {
        assert.equal((await verify(lines.toSpliced(first, 1))).fault?.sequence, first + 1)
      }),
    )
  })

  it('names the first of two that were swapped', async () => {
    await fc.assert(
      fc.asyncProperty(logAndPlaces, async ({ lines, first, second }) => {
        const swapped = lines.with(first, lines[second] as LogLine).with(second, lines[first] as LogLine)
        assert.equal((await verify(swapped)).fault?.sequence, first + 1)
      }),
    )
  })

  it('names a line that was inserted, or the one after it if its hash was made to fit', async () => {
    await fc.assert(
      fc.asyncProperty(logAndPlaces, anyContent, async ({ lines, second }, content) => {
        const insert = (line: LogLine | undefined) =>
          lines.toSpliced(second, 0, { ...(line as LogLine), sequence: second + 1 })
        const foreign = insert(makeLog([content])[0])
        assert.equal((await verify(foreign)).fault?.sequence, second + 1)
        const fitting = insert(makeLog([...lines.slice(0, second).map(contentOf), content]).at(-1))
        assert.equal((await verify(fitting)).fault?.sequence, second + 2)
        const renumbered = fitting.map((line, index) => ({ ...line, sequence: index + 1 }))
        assert.equal((await verify(renumbered)).fault?.sequence, second + 2)
      }),
    )
  })

  it('notices a tail that was cut by a checkpoint of it, wherever it was cut', async () => {
    await fc.assert(
      fc.asyncProperty(logOf(1), fc.nat(), async (lines, at) => {
        const bytes = exportOf(lines)
        const cut = bytes.subarray(0, at % (bytes.length - 1))
        const report = await verifyBytes(cut, [headOf(lines)])
        assert.deepEqual(report.checkpoints, ['beyond'])
        const whole = cut.filter((byte) => byte === 0x0a).length
        const isBetweenLines = cut.length === 0 || cut.at(-1) === 0x0a || bytes[cut.length] === 0x0a
        assert.equal(report.fault?.sequence, isBetweenLines ? undefined : whole + 1)
      }),
    )
  })

  it('notices a rewritten history by each checkpoint that covers the change', async () => {
    await fc.assert(
      fc.asyncProperty(logAndPlaces, async ({ lines, first }) => {
        const heads = [...lines.keys()].map((index) => headOf(lines.slice(0, index + 1)))
        const changed = lines.map(contentOf)
        changed[first] = { ...changed[first], by: 'eve' } as LogContent
        const report = await verify(makeLog(changed), heads)
        assert.equal(report.fault, null)
        assert.deepEqual(
          report.checkpoints,
          lines.map((_, index) => (index < first ? 'agrees' : 'disagrees')),
        )
      }),
    )
  })
})

describe('log verify', () => {
  const whole = makeLog([orderEvent, { ...orderEvent, text: null, textSalt: null }, orderEvent])
  const [first, second, third] = whole
  assert.ok(first && second && third)
  const erased = { ...third, text: null, textSalt: null }

  it('takes an export without an end of its last line', async () => {
    const report = await verifyBytes(exportOf(whole).subarray(0, -1))
    assert.deepEqual(report, { head: headOf(whole), fault: null, checkpoints: [] })
  })

  it('takes a text that an event says was erased, and no other', async () => {
    const told = {
      ...orderEvent,
      text: null,
      textSalt: null,
      kind: 'text-erased',
      subject: { kind: 'log', id: '3' },
    }
    const all = makeLog([orderEvent, orderEvent, orderEvent, told])
    const at = (index: number) => ({ ...(all[index] as LogLine), text: null, textSalt: null })
    assert.equal((await verify(all.with(2, at(2)))).fault, null)
    assert.deepEqual((await verify(all.with(1, at(1)).with(2, at(2)))).fault, {
      sequence: 2,
      reason: 'its text is gone, and no later event says that it was erased',
    })
    const early = makeLog([told, orderEvent, orderEvent]).with(2, { ...(all[2] as LogLine) })
    assert.equal((await verify(early)).fault?.sequence, 3)
  })

  const reasons: Record<string, [Buffer, RegExp]> = {
    'an empty line': [Buffer.from('\n'), /not JSON/],
    'what is no JSON': [Buffer.from('{"sequence":2\n'), /not JSON/],
    'what is no UTF-8': [Buffer.from([0x22, 0xff, 0x22]), /not JSON in UTF-8/],
    'a byte-order mark': [Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), exportOf([second])]), /not JSON/],
    'depth without end': [
      Buffer.from(
        JSON.stringify(second).replace(
          '"total"',
          `"depth":${'['.repeat(100_000)}${']'.repeat(100_000)},"total"`,
        ),
      ),
      /not JSON/,
    ],
    'a line without end': [Buffer.alloc(3_000_000, 0x20), /not JSON/],
    'a list': [Buffer.from('[]'), /not an object/],
    null: [Buffer.from('null'), /not an object/],
    'a line spelled otherwise': [
      Buffer.from(JSON.stringify(second, null, 1).replaceAll('\n', '')),
      /written/,
    ],
    'a member that is there twice': [
      Buffer.from(JSON.stringify(second).replace('{"id"', '{"by":"eve","id"')),
      /written/,
    ],
    'a member too few': [exportOf([{ ...second, by: undefined } as unknown as LogLine]), /member by /],
    'a member of another type': [exportOf([{ ...second, byId: '3' } as unknown as LogLine]), /member byId /],
    'a member too many': [exportOf([{ ...second, more: 1 } as LogLine]), /hash/],
    'another sequence': [exportOf([third]), /has the sequence 3/],
    'another hash': [exportOf([{ ...second, hash: first.hash }]), /hash is not/],
    'its own text': [exportOf([{ ...second, text: 'x', textSalt: '00'.repeat(16) }]), /text does not match/],
    'a salt alone': [exportOf([{ ...second, textSalt: '00'.repeat(16) }]), /text does not match/],
    'a text that JSON alone can say': [
      Buffer.from(JSON.stringify({ ...second, text: '\ud800', textSalt: '00'.repeat(16) })),
      /member text /,
    ],
    'a name that JSON alone can say': [exportOf([{ ...second, data: { a: '\ud800' } }]), /not JSON/],
  }
  for (const [what, [bytes, reason]] of Object.entries(reasons)) {
    it(`names the line and the reason for ${what}`, async () => {
      const { fault, head } = await verifyBytes(Buffer.concat([exportOf([first]), bytes]))
      assert.equal(fault?.sequence, 2)
      assert.match(fault?.reason ?? '', reason)
      assert.deepEqual(head, headOf([first]))
    })
  }

  it('names a text that another has taken the place of', async () => {
    const { fault } = await verify([first, second, { ...third, text: 'Nothing of the kind.' }])
    assert.deepEqual(fault, { sequence: 3, reason: 'its text does not match textHash' })
    assert.equal((await verify([first, second, erased])).fault?.sequence, 3)
  })
})
