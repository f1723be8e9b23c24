// engine: PostgreSQL
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { QueryTooSlow, TooManyWaiting } from '../../server/db/errors.ts'
import { openDatabase } from '../../server/db/open.ts'
import type { DatabasePort } from '../../server/db/port.ts'
import { problemCodec } from '../../server/problems/problems.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { withoutPostgres } from '../support/postgres.ts'
import { type TestOperations, testOperations } from '../support/test-operations.ts'
import { type TestReads, testReads } from '../support/test-reads.ts'

/** More than a caller may have, and more than there are connections. */
const longLists = 40
/** Far less than one of the long lists takes. */
const noticeableMilliseconds = 1_500
const limitMilliseconds = 2_000

describe('long lists of one caller', { skip: withoutPostgres }, () => {
  let database: TestDatabase
  let port: DatabasePort<TestOperations, TestReads>
  before(async () => {
    database = await createTestDatabase()
    port = await openDatabase<TestOperations, TestReads>({
      databaseUrl: database.databaseUrl,
      operations: testOperations,
      reads: testReads,
      writerEntry: new URL('../support/test-writer.ts', import.meta.url),
      readerEntry: new URL('../support/test-reader.ts', import.meta.url),
      refusals: problemCodec,
    })
  })
  after(async () => {
    await port?.close()
    await database?.drop()
  })

  it('hold up neither writes nor the lists of others', async () => {
    // Opens the connections beforehand.
    await Promise.all(Array.from({ length: 10 }, (_, index) => port.write('add', { name: `first ${index}` })))
    const long = Promise.allSettled(
      Array.from({ length: longLists }, () =>
        port.query('endless', null, { limitMilliseconds, caller: 'mallory' }),
      ),
    )
    const begun = performance.now()
    await port.write('add', { name: 'beside' })
    const written = performance.now() - begun
    await port.query('countTwice', null, { limitMilliseconds, caller: 'ada' })
    const listed = performance.now() - begun
    const outcomes = await long
    assert.ok(written < noticeableMilliseconds, `written after ${written} ms`)
    assert.ok(listed < noticeableMilliseconds, `listed after ${listed} ms`)
    const reasons = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason : undefined))
    assert.ok(
      reasons.every((reason) => reason instanceof QueryTooSlow || reason instanceof TooManyWaiting),
      String(reasons),
    )
  })
})
