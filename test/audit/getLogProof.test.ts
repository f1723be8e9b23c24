// engine: both
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { before, describe, it } from 'node:test'
import fc from 'fast-check'
import { sql } from '#kysely'
import { rootFrom, rootsFrom } from '../../proof/tree.ts'
import type { Database } from '../../server/db/tables.ts'
import { withRawDatabase } from '../support/database.ts'
import { forAllAsync } from '../support/for-all.ts'
import { addEvents, rootsOf } from '../support/log.ts'
import { assertProblem } from '../support/problem.ts'
import { setUp, testService } from '../support/service.ts'

const join = (left: string, right: string) =>
  createHash('sha256')
    .update(Buffer.concat([Buffer.of(1), Buffer.from(left, 'hex'), Buffer.from(right, 'hex')]))
    .digest('hex')
const inHex = (hash: string) => Buffer.from(hash, 'base64').toString('hex')

describe('getLogProof', () => {
  const service = testService()
  const admin = setUp(() => service.bearer('admin'))
  let lines: { hash: string }[]
  let rootOver: (begin: number, end: number) => string
  const readLines = async () => {
    const { text } = await admin.get('/v1/log', { accept: 'application/jsonl' })
    lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    rootOver = rootsOf(lines)
  }
  before(async () => {
    await addEvents(service, 600, 0)
    await readLines()
  })
  const proof = async (query: string): Promise<string[]> => {
    const { status, body } = await admin.get(`/v1/log/proof?${query}`)
    assert.equal(status, 200, JSON.stringify(body))
    return body.hashes.map(inHex)
  }
  const rootAt = (size: number) => rootOver(0, size)

  it('leads from an event to the root of any size', async () => {
    await forAllAsync(40, fc.integer({ min: 1, max: 600 }), fc.nat(), async (size, any) => {
      const index = any % size
      const path = await proof(`sequence=${index + 1}&size=${size}`)
      assert.equal(rootFrom(String(lines[index]?.hash), { index, size, path }, join), rootAt(size))
    })
  })

  it('leads from the root of any size to that of any later one', async () => {
    await forAllAsync(40, fc.integer({ min: 1, max: 600 }), fc.nat(), async (size, any) => {
      const from = 1 + (any % size)
      const path = await proof(`from=${from}&size=${size}`)
      const roots = { from: rootAt(from), size: rootAt(size) }
      assert.deepEqual(rootsFrom(roots.from, { from, size, path }, join), roots)
    })
  })

  it('leads to the root of its size for fifty callers at once, while tiles become full', async () => {
    const sizeNow = async () =>
      Number((await admin.get('/v1/log/checkpoint?latest=true')).text.split('\n')[1])
    const asked: { from: number; size: number; path: string[] }[] = []
    for (let batch = 0; batch < 8; batch += 1) {
      const size = await sizeNow()
      const growing = addEvents(service, 128, 0)
      const froms = Array.from({ length: 50 }, (_, index) => Math.ceil((size * (index + 1)) / 50))
      const paths = await Promise.all(froms.map((from) => proof(`from=${from}&size=${size}`)))
      asked.push(...froms.map((from, index) => ({ from, size, path: paths[index] ?? [] })))
      await growing
    }
    await readLines()
    for (const { from, size, path } of asked) {
      const roots = { from: rootAt(from), size: rootAt(size) }
      assert.deepEqual(rootsFrom(roots.from, { from, size, path }, join), roots)
    }
  })

  it('is refused for what cannot be proved, by the name of the parameter', async () => {
    const beyond = lines.length + 1
    for (const [query, parameter, code] of [
      ['', 'size', 'required'],
      ['size=3', 'sequence', 'required'],
      ['sequence=1', 'size', 'required'],
      ['sequence=1&from=1&size=3', 'from', 'conflict'],
      ['sequence=4&size=3', 'sequence', 'maximum'],
      ['from=4&size=3', 'from', 'maximum'],
      [`sequence=1&size=${beyond}`, 'size', 'maximum'],
      ['sequence=0&size=3', 'sequence', 'type'],
      ['from=0&size=3', 'from', 'type'],
      ['from=1e400&size=3', 'from', 'type'],
      ['from=1.5&size=3', 'from', 'type'],
      ['sequence=1&size=9999999999999999', 'size', 'type'],
      ['sequence=__proto__&size=3', 'sequence', 'type'],
    ] as const) {
      const { status, body } = await admin.get(`/v1/log/proof?${query}`)
      assert.equal(status, 400, query)
      const [error] = body.errors
      assert.deepEqual([error.parameter, error.code], [parameter, code], query)
    }
  })
})

describe('getLogProof, over tiles that were altered in the database', () => {
  const service = testService({})
  let tiles: Database['log_tiles'][]
  before(async () => {
    await addEvents(service, 600, 0)
    tiles = await service.db.read.selectFrom('log_tiles').selectAll().execute()
  })

  for (const [what, alter] of [
    ['were cut', sql`update log_tiles set hashes = substr(hashes, 1, 1000)`],
    ['have no hashes', sql`update log_tiles set hashes = replace(hashes, 'a', 'x')`],
    ['are gone', sql`delete from log_tiles`],
  ] as const) {
    it(`answers 500 if they ${what}; the log says why, and the service goes on`, async (t) => {
      const admin = await service.bearer('admin')
      const said = (await service.log()).length
      await withRawDatabase(service.databaseUrl, (raw) => alter.execute(raw))
      t.after(() =>
        withRawDatabase(service.databaseUrl, async (raw) => {
          await raw.deleteFrom('log_tiles').execute()
          await raw.insertInto('log_tiles').values(tiles).execute()
        }),
      )
      assertProblem(await admin.get('/v1/log/proof?sequence=1&size=600'), 500, 'internal-error')
      const lines = (await service.log()).slice(said)
      const reasons = lines.flatMap(({ err }) => (err as Error | undefined)?.message ?? [])
      assert.match(
        reasons.join('\n'),
        /^tile 0 of level \d lacks hashes: the log was altered in the database$/,
      )
      assert.equal((await admin.get('/v1/log?pageSize=1')).status, 200)
    })
  }
})
