// engine: PostgreSQL
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { after, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { isLong } from '../support/faults.ts'
import { runSql, withoutPostgres } from '../support/postgres.ts'
import { openTestPort } from '../support/test-port.ts'

const holder = fileURLToPath(new URL('../support/lease-holder.ts', import.meta.url))
const rounds = isLong ? 20 : 3
/** The lease lasts half a second; the rest is for a busy machine. */
const killedMilliseconds = 5_000
/** PostgreSQL ends the session of a stalled transaction after 5 s. */
const stalledMilliseconds = 15_000

interface Work {
  pid: number
  term: number
}

describe('two instances that share a lease', { skip: withoutPostgres }, () => {
  let database: TestDatabase
  const instances = new Map<number, ChildProcess>()
  before(async () => {
    database = await createTestDatabase()
    await (await openTestPort(database.databaseUrl)).close()
    await runSql(
      database.databaseUrl,
      'create table works (number bigint generated always as identity, pid integer, term integer)',
    )
    start()
    start()
    await followed(0)
  })
  after(async () => {
    for (const instance of instances.values()) instance.kill('SIGKILL')
    await database.drop()
  })

  function start(): void {
    const env = { ...process.env, DATABASE_URL: database.databaseUrl }
    const instance = spawn(process.execPath, [holder], { env, stdio: 'inherit' })
    instances.set(Number(instance.pid), instance)
  }

  function kill(pid: number): void {
    instances.get(pid)?.kill('SIGKILL')
    instances.delete(pid)
  }

  const works = () => runSql<Work>(database.databaseUrl, 'select pid, term from works order by number')
  const last = async () => (await works()).at(-1) ?? { pid: 0, term: 0 }

  /** Waits until another instance works, and returns how long that took. */
  async function followed(pid: number): Promise<number> {
    const begun = performance.now()
    while ((await last()).pid === pid) await wait(20)
    return performance.now() - begun
  }

  async function assertNeverTwo(): Promise<void> {
    const all = await works()
    const holders = new Map(all.map(({ term, pid }) => [term, pid]))
    assert.ok(
      all.every(({ term, pid }) => holders.get(term) === pid),
      'each term has one holder',
    )
    const terms = all.map(({ term }) => term)
    assert.deepEqual(
      terms,
      terms.toSorted((a, b) => a - b),
      'no term comes back',
    )
  }

  it('never hold it at once, and one takes over from a killed one within a bounded time', async (t) => {
    for (let round = 0; round < rounds; round += 1) {
      const { pid } = await last()
      kill(pid)
      const taken = await followed(pid)
      assert.ok(taken < killedMilliseconds, `${taken} ms`)
      t.diagnostic(`taken over after ${Math.round(taken)} ms`)
      start()
      await wait(300)
    }
    await assertNeverTwo()
  })

  it('do nothing in an old term after they were suspended and lost the lease', async (t) => {
    for (let round = 0; round < rounds; round += 1) {
      const { pid: stalled, term } = await last()
      instances.get(stalled)?.kill('SIGSTOP')
      const taken = await followed(stalled)
      assert.ok(taken < stalledMilliseconds, `${taken} ms`)
      t.diagnostic(`taken over after ${Math.round(taken)} ms`)
      instances.get(stalled)?.kill('SIGCONT')
      await wait(500)
      const { pid: other } = await last()
      kill(other)
      await followed(other)
      const again = await last()
      assert.equal(again.pid, stalled)
      assert.ok(again.term > term + 1)
      start()
      await wait(300)
    }
    await assertNeverTwo()
  })
})
