import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { LogTree, rootOver } from '../../proof/log-tree.ts'
import { consistencyRanges, inclusionRanges, type Range } from '../../proof/tree.ts'
import { firstUnlikeTile, headOfLog, readTile } from '../../server/audit/lines/store.ts'
import type { AppDatabase } from '../../server/db/port.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { createTestDatabase, type TestDatabase, withRawDatabase } from '../support/database.ts'
import { forAllAsync } from '../support/for-all.ts'
import { addWaitingEvents, headOf, rootOfLines, rootsOf, seal } from '../support/log.ts'

const lineCount = 1_100

describe('the tree of the log', () => {
  let database: TestDatabase
  let db: AppDatabase
  let lines: { hash: string }[]
  before(async () => {
    database = await createTestDatabase()
    db = await openAppDatabase({ databaseUrl: database.databaseUrl })
    const { databaseUrl } = database
    await addWaitingEvents({ databaseUrl }, lineCount)
    // Batches that end before, at and after the end of a tile.
    for (const limit of [1, 254, 1, 1, 255, 600]) await db.write('sealEvents', { limit })
    await seal(db)
    lines = await db.read.selectFrom('events').select('hash').orderBy('sequence').execute()
  })
  after(async () => {
    await db.close()
    await database.drop()
  })

  const tiles = () => db.read.selectFrom('log_tiles').selectAll().orderBy('number').execute()

  it('has the root of its lines, and a row for every 256 of them', async () => {
    assert.deepEqual(await headOfLog(db.read), { era: 1, ...headOf(lines) })
    const expected = [0, 1, 2, 3].map((number) => {
      const part = lines.slice(256 * number, 256 * (number + 1))
      const hashes = part.map(({ hash }) => hash).join('')
      return { level: 0, number, root: rootOfLines(part), hashes }
    })
    assert.deepEqual(await tiles(), expected)
  })

  it('gives the root over every range of a proof', async () => {
    const read = (level: number, number: number) => readTile(db.read, level, number)
    const size = fc.integer({ min: 1, max: lineCount })
    const rootAlone = rootsOf(lines)
    await forAllAsync(25, size, fc.nat(), async (size, any) => {
      const ranges: Range[] = [
        ...inclusionRanges(any % size, size),
        ...consistencyRanges(1 + (any % size), size),
      ]
      for (const [begin, end] of ranges) {
        assert.equal(await rootOver([begin, end], read), rootAlone(begin, end))
      }
    })
  })

  it('names the line that was rewritten with its hash', async () => {
    const rewrite = async (sequence: number, hash: string) => {
      await withRawDatabase(database.databaseUrl, (raw) =>
        raw.updateTable('events').set({ hash }).where('sequence', '=', sequence).execute(),
      )
      // The service's reads share a snapshot until the end of the turn.
      await nextTurn()
    }
    assert.equal(await firstUnlikeTile(db.read), undefined)
    for (const sequence of [1, 300, 1_024]) {
      await rewrite(sequence, '0'.repeat(64))
      assert.equal(await firstUnlikeTile(db.read), sequence)
      await rewrite(sequence, String(lines[sequence - 1]?.hash))
    }
  })

  it('makes a growing tile of its parts alone', async () => {
    const roots = Array.from({ length: 300 }, (_, index) => index.toString(16).padStart(64, '0'))
    const parts = roots.map((root, number) => ({ level: 1, number, root, hashes: root }))
    await withRawDatabase(database.databaseUrl, (raw) =>
      raw.insertInto('log_tiles').values(parts.toReversed()).execute(),
    )
    await nextTurn()
    for (const number of [0, 1, 2]) {
      assert.deepEqual(await readTile(db.read, 2, number), roots.slice(256 * number, 256 * (number + 1)))
    }
  })
})

describe('tiles of higher levels', () => {
  it('are noted when they are full, and lead to the same roots', async () => {
    const [tree, kept] = [new LogTree(), new Map<string, string[]>()]
    const put = (level: number, root: string) => {
      const name = String(level)
      kept.set(name, [...(kept.get(name) ?? []), root])
    }
    const hashes = Array.from({ length: 66_000 }, (_, index) => index.toString(16).padStart(64, '0'))
    for (const hash of hashes) tree.add(hash)
    for (const { level, root } of tree.tiles) put(level + 1, root)
    assert.deepEqual(
      tree.tiles.filter(({ level }) => level > 0).map(({ level, number }) => [level, number]),
      [[1, 0]],
    )
    const levels = [hashes, kept.get('1') ?? [], kept.get('2') ?? []]
    const read = async (level: number, number: number) =>
      levels[level]?.slice(256 * number, 256 * (number + 1)) ?? []
    assert.equal(await rootOver([0, 66_000], read), tree.head.root)
    const other = new LogTree()
    for (const hash of hashes.slice(65_536)) other.add(hash)
    assert.equal(await rootOver([65_536, 66_000], read), other.head.root)
    const cut = async (level: number, number: number) => (await read(level, number)).slice(0, -1)
    await assert.rejects(rootOver([128, 256], cut), /lacks hashes: the log was altered/)
  })
})
