import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { backUpDatabase } from '../../server/db/open.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { createTestDatabase, testEngine } from '../support/database.ts'

/** The copy takes 100 pages in each turn of the event loop, so this makes about ten steps. */
const fillingBytes = 4_000_000
const mostTurns = 500

describe('a backup of SQLite', { skip: testEngine !== 'sqlite' && 'PostgreSQL has its own' }, () => {
  it('finishes while others go on writing, and does not start over at each write', async (t) => {
    const { databaseUrl, file, drop } = await createTestDatabase()
    t.after(drop)
    const db = await openAppDatabase({ databaseUrl })
    t.after(() => db.close())
    const writer = new Sqlite(file)
    t.after(() => writer.close())
    writer.exec('create table filling (bytes blob)')
    const insert = writer.prepare('insert into filling values (zeroblob(?))')
    insert.run(fillingBytes)
    let isOver = false
    const copy = `${file}.backup`
    const backup = backUpDatabase({ databaseUrl }, copy).finally(() => {
      isOver = true
    })
    // Turns before the copy begins do not count, because their number depends on the machine.
    for (let turns = 0; turns < mostTurns && !isOver; turns += Number(existsSync(copy))) {
      insert.run(1)
      await setImmediate()
    }
    assert.ok(isOver, `no backup within ${mostTurns} turns`)
    await backup
  })
})
