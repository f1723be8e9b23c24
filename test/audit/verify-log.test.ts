import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { canonicalJson } from '../../proof/canonical.ts'
import { hashOf, type LogLine, saltedHashOf, spellLine } from '../../proof/line.ts'
import { eraOf, lineFrom, lineOfProof, verifyLog } from '../../proof/log.ts'
import type { Head } from '../../proof/log-tree.ts'
import { forAllAsync } from '../support/for-all.ts'
import {
  exportOf,
  headOf,
  inPortions,
  type LogContent,
  makeLog,
  orderEvent,
  plainEvent,
  renamed,
  withoutValue,
} from '../support/log.ts'

type Checkpoint = Head & { era?: number }
const verifyBytes = (bytes: Buffer, checkpoints: Checkpoint[] = [], portion = 65_536) => {
  const heads = checkpoints.map((head) => ({ era: 1, ...head }))
  return verifyLog(inPortions(bytes, portion), heads)
}
const verify = (lines: LogLine[], checkpoints: Checkpoint[] = []) => verifyBytes(exportOf(lines), checkpoints)
const contentOf = ({ sequence, hashes, hash, ...content }: LogLine): LogContent => content

describe('the hash of a line', () => {
  const [line] = makeLog([orderEvent])
  assert.ok(line)
  const { hash, clear, ...hashed } = line

  it('matches the contract byte for byte', () => {
    const canonical =
      '{"atTimeZone":"Europe/Berlin","atUtc":"2026-11-22T12:00:00.000Z","byId":3,"data":{"total":"12.5"},"forId":null,' +
      `"hashes":{"by":"${line.hashes.by}","customer":"${line.hashes.customer}","text":"${line.hashes.text}"},` +
      '"id":"019a0000-0000-7000-8000-000000000001","kind":"noted","sequence":1,' +
      '"subject":{"id":"019a0000-0000-7000-8000-000000000000","kind":"order"},"version":1}'
    const bytes = Buffer.concat([Buffer.of(0), Buffer.from(canonical)])
    assert.equal(hashOf(hashed), createHash('sha256').update(bytes).digest('hex'))
    assert.equal(hash, hashOf(hashed))
  })

  it('covers each name and text by a hash of the salt and the value', () => {
    for (const [name, { value, salt }] of Object.entries(clear)) {
      assert.ok(value !== null && salt !== null)
      const bytes = Buffer.concat([Buffer.from([...Array(16).keys()]), Buffer.from(value)])
      assert.equal(saltedHashOf({ value, salt }), createHash('sha256').update(bytes).digest('hex'))
      assert.equal(line.hashes[name], saltedHashOf({ value, salt }))
    }
  })
})

const anyText = fc.string({
  unit: fc.constantFrom('a', 'é', '😀', '"', '\\', '\n', '\u2028', '\ufffd', '\u001f'),
})
const anySalted = fc.record({
  value: anyText,
  salt: fc.uint8Array({ minLength: 16, maxLength: 16 }).map((salt) => Buffer.from(salt).toString('hex')),
})
const anyContent: fc.Arbitrary<LogContent> = fc
  .tuple(
    fc.record({
      id: fc.uuid({ version: 7 }),
      kind: fc.constantFrom('linked', 'noted', 'user-added'),
      subject: fc.record({ kind: fc.constantFrom('order', 'account'), id: fc.uuid() }),
      version: fc.option(fc.nat()),
      atUtc: fc.constant('2026-11-22T12:00:00.000Z'),
      atTimeZone: fc.option(fc.constant('Europe/Berlin')),
      byId: fc.option(fc.nat()),
    }),
    fc.oneof(fc.record({ forId: fc.nat() }), fc.constant({ forId: null })),
    fc.record({
      data: fc.record({
        total: fc.constantFrom('1', '12.5'),
        rules: fc.record({ passkey: fc.boolean() }),
      }),
      clear: fc.record({ by: anySalted, customer: anySalted, text: anySalted }, { requiredKeys: ['by'] }),
    }),
  )
  .map(([who, deputy, what]) => ({ ...who, ...deputy, ...what }))
const logOf = (minLength: number) => fc.array(anyContent, { minLength, maxLength: 8 }).map(makeLog)
/** A log of at least two lines, and two places in it, in order. */
const logAndPlaces = fc.tuple(logOf(2), fc.nat(), fc.nat()).map(([lines, one, other]) => ({
  lines,
  first: one % (lines.length - 1),
  second: (one % (lines.length - 1)) + 1 + (other % (lines.length - 1 - (one % (lines.length - 1)))),
}))

describe('log verify of a log whose database went back', () => {
  const notes = (count: number): LogContent[] => Array.from({ length: count }, () => orderEvent)
  /** Appends a restore to the lines that are left, and notes to it. */
  function goBack(left: LogLine[], era: number, after: number, data?: LogLine['data']): LogLine[] {
    const last = { hash: left.at(-1)?.hash ?? null, sequence: left.length }
    const restored = {
      ...orderEvent,
      kind: 'log-restored',
      subject: { kind: 'log', id: String(left.length) },
      version: null,
      data: data ?? { era, last },
      textSalt: null,
      text: null,
    }
    return makeLog([...left.map(contentOf), restored, ...notes(after)])
  }
  const original = makeLog(notes(10))
  const second = goBack(original.slice(0, 5), 2, 4)
  const third = goBack(second.slice(0, 3), 3, 9)
  const head = (lines: LogLine[], era: number, size = lines.length): Checkpoint => ({
    ...headOf(lines.slice(0, size)),
    era,
  })

  it('says which checkpoints a restore has lost, and still compares those before it', async () => {
    const given = [head(original, 1, 5), head(original, 1, 6), head(original, 1), head(second, 2)]
    const { checkpoints, restores, fault } = await verify(second, given)
    assert.equal(fault, null)
    assert.deepEqual(checkpoints, ['agrees', 'lost', 'lost', 'agrees'])
    assert.deepEqual(restores, [{ sequence: 6, era: 2 }])
  })

  it('knows the lost ones of every era before it', async () => {
    const given = [head(original, 1, 3), head(original, 1, 5), head(second, 2), head(third, 3, 8)]
    const { checkpoints, restores } = await verify(third, given)
    assert.deepEqual(checkpoints, ['agrees', 'lost', 'lost', 'agrees'])
    assert.deepEqual(restores, [{ sequence: 4, era: 3 }])
  })

  it('excuses no other difference: not in lines that are left, not in the era of the restore', async () => {
    const other = makeLog(original.map((line) => ({ ...contentOf(line), byId: 99 })))
    const given = [head(other, 1, 5), head(other, 2, 6), { ...headOf(original), size: 11, era: 2 }]
    assert.deepEqual((await verify(second, given)).checkpoints, ['disagrees', 'disagrees', 'beyond'])
  })

  it('names a restore that does not fit the line before it, or goes back to an era', async () => {
    const [, , , , fifth] = original
    const last = { hash: fifth?.hash, sequence: 5 }
    const otherLast = 'it begins an era, but names another last event than the one before it'
    const otherEra = 'the era that it begins is not later than the one before'
    for (const [data, reason] of [
      [{ era: 2, last: { ...last, sequence: 4 } }, otherLast],
      [{ era: 2, last: { ...last, hash: original[3]?.hash } }, otherLast],
      [{ era: 2, last: null }, otherLast],
      [{ era: 1, last }, otherEra],
      [{ era: '2', last }, otherEra],
      [{ era: 2 ** 53, last }, otherEra],
      [{ last }, otherEra],
    ] as const) {
      const { fault } = await verify(goBack(original.slice(0, 5), 2, 1, data))
      assert.deepEqual(fault, { sequence: 6, reason })
    }
  })
})

describe('log verify, on any log', () => {
  it('accepts it, read in pieces of any size, and agrees with every checkpoint', async () => {
    await forAllAsync(100, logOf(0), fc.integer({ min: 1, max: 700 }), async (lines, portion) => {
      const heads = [0, ...lines.keys()].map((_, index) => headOf(lines.slice(0, index)))
      const report = await verifyBytes(exportOf(lines), heads, portion)
      assert.deepEqual(report.fault, null)
      assert.deepEqual(report.head, headOf(lines))
      assert.deepEqual(new Set(report.checkpoints), new Set(['agrees']))
    })
  })

  it('names the line in which any byte was changed', async () => {
    await forAllAsync(
      1_000,
      logOf(1),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      async (lines, at, flip) => {
        const bytes = exportOf(lines)
        const place = at % bytes.length
        const sequence = bytes.subarray(0, place).filter((byte) => byte === 0x0a).length + 1
        bytes.writeUInt8(bytes.readUInt8(place) ^ flip, place)
        assert.equal((await verifyBytes(bytes)).fault?.sequence, sequence)
      },
    )
  })

  it('says where a line is missing', async () => {
    await forAllAsync(100, logAndPlaces, async ({ lines, first }) => {
      assert.equal((await verify(lines.toSpliced(first, 1))).fault?.sequence, first + 1)
    })
  })

  it('names the first of two swapped lines', async () => {
    await forAllAsync(100, logAndPlaces, async ({ lines, first, second }) => {
      const swapped = lines.with(first, lines[second] as LogLine).with(second, lines[first] as LogLine)
      assert.equal((await verify(swapped)).fault?.sequence, first + 1)
    })
  })

  it('names an inserted line, or the next one if the inserted line fits its hash', async () => {
    await forAllAsync(100, logAndPlaces, anyContent, async ({ lines, second }, content) => {
      const insert = (line: LogLine | undefined) =>
        lines.toSpliced(second, 0, { ...(line as LogLine), sequence: second + 1 })
      const foreign = insert(makeLog([content])[0])
      assert.equal((await verify(foreign)).fault?.sequence, second + 1)
      const fitting = insert(makeLog([...lines.slice(0, second).map(contentOf), content]).at(-1))
      assert.equal((await verify(fitting)).fault?.sequence, second + 2)
      const renumbered = makeLog([
        ...lines.slice(0, second).map(contentOf),
        content,
        ...lines.slice(second).map(contentOf),
      ])
      const heads = [headOf(lines.slice(0, second)), headOf(lines.slice(0, second + 1))]
      const { fault, checkpoints } = await verify(renumbered, heads)
      assert.equal(fault, null)
      assert.deepEqual(checkpoints, ['agrees', 'disagrees'])
    })
  })

  it('notices from a checkpoint that the end was cut off, wherever it was cut', async () => {
    await forAllAsync(100, logOf(1), fc.nat(), async (lines, at) => {
      const bytes = exportOf(lines)
      const cut = bytes.subarray(0, at % (bytes.length - 1))
      const report = await verifyBytes(cut, [headOf(lines)])
      assert.deepEqual(report.checkpoints, ['beyond'])
      const whole = cut.filter((byte) => byte === 0x0a).length
      const isBetweenLines = cut.length === 0 || cut.at(-1) === 0x0a
      assert.equal(report.fault?.sequence, isBetweenLines ? undefined : whole + 1)
    })
  })

  it('notices a rewritten history from each checkpoint that covers the change', async () => {
    await forAllAsync(100, logAndPlaces, async ({ lines, first }) => {
      const heads = [...lines.keys()].map((index) => headOf(lines.slice(0, index + 1)))
      const changed = lines.map(contentOf)
      changed[first] = { ...changed[first], byId: 99_999 } as LogContent
      const report = await verify(makeLog(changed), heads)
      assert.equal(report.fault, null)
      assert.deepEqual(
        report.checkpoints,
        lines.map((_, index) => (index < first ? 'agrees' : 'disagrees')),
      )
    })
  })
})

describe('the line of a proof', () => {
  const [, line] = makeLog([orderEvent, orderEvent])
  assert.ok(line)
  const { hash, clear: _, ...hashed } = line
  const proofOf = (entry: string | Uint8Array, index = 1) => {
    const extra = new Uint8Array(Buffer.from(entry))
    return lineOfProof({ extra, index, path: [], checkpoint: '' })
  }
  const canonical = canonicalJson(hashed)

  it('is read without its names and its text', () => {
    const gone = { salt: null, value: null }
    const clear = { by: gone, customer: gone, text: gone }
    assert.deepEqual(proofOf(canonical), { ...hashed, clear, hash })
    const later = { ...hashed, zone: null }
    assert.deepEqual(proofOf(canonicalJson(later)), { ...later, clear, hash: hashOf(later) })
  })

  const others: Record<string, string | Uint8Array> = {
    'members in another order': JSON.stringify(hashed),
    'a member too few': canonical.replace('"byId":3,', ''),
    'a member of another type': canonicalJson({ ...hashed, byId: 'x' }),
    'a clear': canonicalJson({ ...hashed, clear: {} }),
    'a hash that is none': canonicalJson({ ...hashed, hashes: { by: 'x' } }),
    'no hashes': canonicalJson({ ...hashed, hashes: null }),
    'another sequence': canonicalJson({ ...hashed, sequence: 1 }),
    'a blank at its end': `${canonical} `,
    'a byte that is no UTF-8': Buffer.concat([Buffer.from(canonical), Buffer.of(0xff)]),
    'a list': '[]',
    'no JSON': 'hello',
  }
  for (const [what, entry] of Object.entries(others)) {
    it(`is refused with ${what}`, () => {
      assert.throws(() => proofOf(entry), /^Error: the proof is about something else than line 2 of a log$/)
    })
  }

  it('is refused in another place', () => {
    assert.throws(() => proofOf(canonical, 0), /something else than line 1 of a log/)
  })
})

describe('log verify', () => {
  const otherSpelling = 'it is not written as an export writes it, down to the line feed at its end'
  const whole = makeLog([orderEvent, plainEvent, orderEvent])
  const [first, second, third] = whole
  assert.ok(first && second && third)
  const erased = withoutValue(third, 'text')
  const lastMember = { hash: second.hash }

  it('knows the root of no lines, and the era of an origin', async () => {
    const { root } = headOf([])
    const { checkpoints } = await verify(whole, [
      { size: 0, root },
      { size: 0, root: first.hash },
    ])
    assert.deepEqual(checkpoints, ['agrees', 'disagrees'])
    const eras = ['a/log', 'a/log/2', 'a/log/10', 'a/log/x'].map(eraOf)
    assert.deepEqual(eras, [1, 2, 10, 1])
  })

  it('refuses an export without the line feed of its last line', async () => {
    const { fault } = await verifyBytes(exportOf(whole).subarray(0, -1))
    assert.deepEqual(fault, { sequence: 3, reason: otherSpelling })
  })

  const erasureOf = (erased: object): LogContent => ({
    ...plainEvent,
    kind: 'erased',
    subject: { kind: 'log', id: '3' },
    data: { erased },
  })

  it('accepts a missing value only if a line says that it was erased, by its place and its name', async () => {
    for (const name of ['text', 'by', 'customer']) {
      const all = makeLog([orderEvent, orderEvent, orderEvent, erasureOf({ [name]: [3] })])
      const at = (index: number, gone = name) => withoutValue(all[index] as LogLine, gone)
      assert.equal((await verify(all.with(2, at(2)))).fault, null)
      assert.equal((await verify(all.with(2, at(2)))).lost, null)
      const both = await verify(all.with(1, at(1)).with(2, at(2)))
      assert.deepEqual([both.fault, both.lost], [null, { sequence: 2, name }])
      const other = name === 'text' ? 'by' : 'text'
      assert.deepEqual((await verify(all.with(2, at(2, other)))).lost, { sequence: 3, name: other })
      const early = makeLog([erasureOf({ [name]: [3] }), orderEvent, orderEvent])
      const gone = early.with(2, withoutValue(early[2] as LogLine, name))
      assert.deepEqual((await verify(gone)).lost, { sequence: 3, name })
    }
  })

  it('accepts members that a later release adds, in one spelling', async () => {
    const [, { hash: _, clear, ...known } = assert.fail()] = makeLog([orderEvent, orderEvent])
    const later = { ...known, data: { ...known.data, more: 1 }, zone: { a: 1, b: null } }
    const line: LogLine = { ...later, clear, hash: hashOf(later) }
    assert.deepEqual(lineFrom(line), line)
    const [first] = makeLog([orderEvent])
    const faultWith = async (text: string) =>
      (await verifyBytes(Buffer.from(`${spellLine(first as LogLine)}\n${text}\n`))).fault?.reason
    const spelled = spellLine(line)
    assert.match(spelled, /"hash":"[0-9a-f]{64}","zone":\{"a":1,"b":null\}\}$/)
    assert.equal(await faultWith(spelled), undefined)
    const { zone, ...others } = JSON.parse(spelled)
    assert.match(String(await faultWith(JSON.stringify({ zone, ...others }))), /written/)
    const other = { ...others, zone: { b: null, a: 1 } }
    assert.match(String(await faultWith(JSON.stringify(other))), /written/)
    assert.match(String(await faultWith(JSON.stringify({ ...others, zone: 2 }))), /hash is not/)
  })

  it('reads an erasure exactly as written, and only in an event of that kind', async () => {
    const told = erasureOf({ text: [3] })
    const others: LogContent[] = [
      ...['3', '0x3', [[3]], null, 3].map((three) => erasureOf({ text: three })),
      erasureOf([3]),
      { ...told, kind: 'noted' },
    ]
    for (const other of others) {
      const all = makeLog([orderEvent, orderEvent, orderEvent, other])
      const gone = all.with(2, withoutValue(all[2] as LogLine, 'text'))
      assert.deepEqual((await verify(gone)).lost, { sequence: 3, name: 'text' }, JSON.stringify(other.data))
    }
  })

  it('names events dated more than a minute before their predecessor', async () => {
    const times = ['12:01:00.000', '12:00:00.000', '11:58:59.999', '11:59:00.000', '10:00:00.000']
    const timed = times.map((time) => ({ ...orderEvent, atUtc: `2026-11-22T${time}Z` }))
    const report = await verify(makeLog(timed))
    assert.deepEqual([report.fault, report.backInTime], [null, { events: 2, first: [3, 5] }])
    const manyTimes = Array.from({ length: 24 }, (_, index) => timed[index % 2 === 0 ? 0 : 4] ?? orderEvent)
    const first = Array.from({ length: 10 }, (_, index) => 2 * index + 2)
    assert.deepEqual((await verify(makeLog(manyTimes))).backInTime, { events: 12, first })
  })

  const salt = String(second.clear.by?.salt)
  const withSalt = (salt: string, value: string) => ({
    ...second,
    clear: { ...second.clear, by: { salt, value } },
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
    'a list': [Buffer.from('[]'), /not an object/],
    null: [Buffer.from('null'), /not an object/],
    'a line spelled otherwise': [
      Buffer.from(`${JSON.stringify(second, null, 1).replaceAll('\n', '')}\n`),
      /written/,
    ],
    'members in another order': [exportOf([{ ...lastMember, ...second }]), /written/],
    'members of its subject in another order': [
      exportOf([{ ...second, subject: { id: second.subject.id, kind: second.subject.kind } }]),
      /written/,
    ],
    'members of its clear in another order': [
      exportOf([
        { ...second, clear: { customer: second.clear.customer, by: second.clear.by } as LogLine['clear'] },
      ]),
      /written/,
    ],
    'a carriage return before its end': [
      Buffer.from(`${JSON.stringify(second)}\r\n`),
      /changed its line ends/,
    ],
    'a time that is none': [exportOf([{ ...second, atUtc: '2026-11-31T12:00:00.000Z' }]), /member atUtc /],
    'a member that is there twice': [
      Buffer.from(`${JSON.stringify(second).replace('"id"', '"byId":7,"id"')}\n`),
      /written/,
    ],
    'a member too few': [exportOf([{ ...second, forId: undefined } as unknown as LogLine]), /member forId /],
    'a member of another type': [exportOf([{ ...second, byId: '3' } as unknown as LogLine]), /member byId /],
    'a number with a fraction': [exportOf([{ ...second, byId: 1.5 }]), /member byId /],
    'a number beyond 2^53': [exportOf([{ ...second, byId: 2 ** 53 }]), /member byId /],
    'a subject that is none': [
      exportOf([{ ...second, subject: { ...second.subject, kind: 7 as never } }]),
      /member subject /,
    ],
    'a version that is none': [exportOf([{ ...second, version: '1' as never }]), /member version /],
    'a member too many': [exportOf([{ ...second, more: 1 } as LogLine]), /hash is not/],
    'another sequence': [exportOf([third]), /has the sequence 3/],
    'another hash': [exportOf([{ ...second, hash: first.hash }]), /hash is not/],
    'a text besides': [exportOf([renamed(second, { text: 'x' })]), /other names than its hashes/],
    'another name': [exportOf([renamed(second, { by: 'eve' })]), /clear\.by does not match/],
    'a name too few': [
      exportOf([{ ...second, clear: { by: second.clear.by } as LogLine['clear'] }]),
      /other names/,
    ],
    'a letter of a name in its salt': [exportOf([withSalt(`${salt}6a`, 'o')]), /member clear /],
    'a salt in capitals': [exportOf([withSalt(salt.toUpperCase(), 'jo')]), /member clear /],
    'more than salt and value': [
      exportOf([{ ...second, clear: { ...second.clear, by: { more: 1, ...second.clear.by } as never } }]),
      /member clear /,
    ],
    'a salt alone': [
      exportOf([{ ...second, clear: { ...second.clear, by: { salt: '00'.repeat(16), value: null } } }]),
      /member clear /,
    ],
    'a value alone': [
      exportOf([{ ...second, clear: { ...second.clear, by: { salt: null, value: 'jo' } } }]),
      /member clear /,
    ],
    'a text that JSON alone can say': [
      Buffer.from(JSON.stringify(renamed(second, { by: '\ud800' }))),
      /member clear /,
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

  it('reads no more than a megabyte of a line without end', async () => {
    let portions = 0
    const blanks = async function* () {
      for (; portions < 40; portions += 1) yield Buffer.alloc(65_536, 0x20)
    }
    const { fault } = await verifyLog(blanks())
    assert.deepEqual([fault, portions], [{ sequence: 1, reason: 'it is not JSON in UTF-8' }, 16])
  })

  it('names an event whose text was replaced by another', async () => {
    const { fault } = await verify([first, second, renamed(third, { text: 'Nothing of the kind.' })])
    assert.deepEqual(fault, { sequence: 3, reason: 'its clear.text does not match its hash' })
    assert.deepEqual((await verify([first, second, erased])).lost, { sequence: 3, name: 'text' })
  })
})
