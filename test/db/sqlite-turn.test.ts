import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { openDatabase } from '../../server/db/open.ts'
import type { DatabasePort } from '../../server/db/port.ts'
import { prepared } from '../../server/db/prepared.ts'
import { problemCodec } from '../../server/http/problems.ts'
import { type TestOperations, testOperations } from '../support/test-operations.ts'
import { type TestReads, testReads } from '../support/test-reads.ts'

const selectNames = prepared((db) => db.selectFrom('roles').select('name'))

/** Holds the event loop, as much work in one turn would, while threads go on and post what they have done. */
function hold(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

/** Lets everything run that waits for nothing but promises, all within this turn of the event loop. */
async function runPromises(): Promise<void> {
  for (let step = 0; step < 100; step += 1) await undefined
}

describe('small reads of one turn of the event loop, which share a snapshot on SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-turn-'))
  const file = join(folder, 'turn.db')
  let port: DatabasePort<TestOperations, TestReads>
  /** Another process's, as far as the port can tell. */
  let other: Sqlite.Database
  before(async () => {
    port = await openDatabase<TestOperations, TestReads>({
      databaseUrl: `file:${file}`,
      operations: testOperations,
      reads: testReads,
      writerEntry: new URL('../support/test-writer.ts', import.meta.url),
      readerEntry: new URL('../support/test-reader.ts', import.meta.url),
      refusals: problemCodec,
    })
    other = new Sqlite(file)
  })
  after(async () => {
    other.close()
    await port.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const names = async () => (await selectNames(port.read)).map(({ name }) => name)
  const isStored = (name: string) =>
    other.prepare('select 1 from roles where name = ?').get(name) !== undefined
  /** After a timer come, in the same turn, the messages of threads, and only then the end of the turn's snapshot. */
  const turn = () => wait(1)

  it('see the same, and what was acknowledged in the same turn', async () => {
    await turn()
    const seen = await names()
    const written = port.write('add', { name: 'acknowledged' })
    for (let time = 0; time < 1_000 && !isStored('acknowledged'); time += 1) hold(5)
    hold(100)
    assert.ok(isStored('acknowledged'))
    assert.deepEqual(await names(), seen)
    await written
    assert.deepEqual((await names()).toSorted(), [...seen, 'acknowledged'].toSorted())
  })

  it('see what a reader thread has shown in the same turn', async () => {
    const count = () => port.query('countTwice', null, { limitMilliseconds: 1_000, caller: 'ada' })
    await count()
    await turn()
    const seen = await names()
    other.prepare('insert into roles (name) values (?)').run('shown')
    const counted = count()
    await runPromises()
    hold(200)
    assert.deepEqual(await names(), seen)
    assert.deepEqual(await counted, [seen.length + 1, seen.length + 1])
    assert.ok((await names()).includes('shown'))
  })

  it('see in the next turn what another process has written', async () => {
    await turn()
    await names()
    other.prepare('insert into roles (name) values (?)').run('elsewhere')
    await turn()
    assert.ok((await names()).includes('elsewhere'))
  })
})
