// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Client } from 'pg'
import { Kysely } from '#kysely'
import { DatabaseUnavailable, LockTimeout, TooManyWaiting } from '../../server/db/errors.ts'
import { postgresDialect } from '../../server/db/postgres/driver.ts'
import { WriteGroup } from '../../server/db/postgres/group.ts'
import { Reads } from '../../server/db/postgres/reads.ts'
import { Writes } from '../../server/db/postgres/writes.ts'
import type { Database } from '../../server/db/tables.ts'

type Together = (inputs: unknown[]) => Promise<unknown[]>

/** A group whose writes answer `together <input>` or `alone <input>`, and a record of what ran. */
function makeGroup(together: Together) {
  const calls = { together: [] as unknown[][], alone: [] as unknown[] }
  const group = new WriteGroup({
    together(inputs) {
      calls.together.push(inputs)
      return together(inputs)
    },
    async alone(input) {
      calls.alone.push(input)
      return `alone ${input}`
    },
  })
  return { group, calls }
}

const answerAll: Together = async (inputs) => inputs.map((input) => `together ${input}`)
const writeAll = (group: WriteGroup, inputs: unknown[]) =>
  Promise.allSettled(inputs.map((input) => group.write(input)))
const turn = () => new Promise((resolve) => setImmediate(resolve))
const fulfilled = (...values: string[]) => values.map((value) => ({ status: 'fulfilled', value }))

describe('a group of writes', () => {
  it('runs all writes that arrive together in one go, and answers each', async () => {
    const { group, calls } = makeGroup(answerAll)
    const written = writeAll(group, ['a', 'b', 'c'])
    await turn()
    assert.deepEqual(calls, { together: [['a', 'b', 'c']], alone: [] })
    assert.deepEqual(await written, fulfilled('together a', 'together b', 'together c'))
  })

  it('runs a write alone if the group could not do it', async () => {
    const { group, calls } = makeGroup(async (inputs) =>
      inputs.map((input) => (input === 'b' ? undefined : `together ${input}`)),
    )
    assert.deepEqual(await writeAll(group, ['a', 'b', 'c']), fulfilled('together a', 'alone b', 'together c'))
    assert.deepEqual(calls.alone, ['b'])
  })

  it('runs each write alone if one of them fails the group or meets a lock', async () => {
    for (const error of [new Error('a fault of one'), new LockTimeout('held')]) {
      const { group } = makeGroup(() => Promise.reject(error))
      assert.deepEqual(await writeAll(group, ['a', 'b']), fulfilled('alone a', 'alone b'))
    }
  })

  it('passes on the loss of its connection, because the outcome is unknown', async () => {
    const loss = new DatabaseUnavailable('the connection was lost')
    const { group, calls } = makeGroup(() => Promise.reject(loss))
    const rejected = { status: 'rejected', reason: loss }
    assert.deepEqual(await writeAll(group, ['a', 'b']), [rejected, rejected])
    assert.deepEqual(calls.alone, [])
  })

  it('runs at most two at a time, and later writes form the next', async () => {
    const ends: (() => void)[] = []
    const { group, calls } = makeGroup(async (inputs) => {
      await new Promise<void>((resolve) => ends.push(resolve))
      return answerAll(inputs)
    })
    const writes: Promise<unknown>[] = []
    for (const input of ['a', 'b', 'c', 'd']) {
      writes.push(group.write(input))
      await turn()
    }
    assert.deepEqual(calls.together, [['a'], ['b']])
    ends.shift()?.()
    assert.equal(await writes[0], 'together a')
    await turn()
    assert.deepEqual(calls.together, [['a'], ['b'], ['c', 'd']])
    for (const end of ends) end()
    await Promise.all(writes)
  })

  it('refuses writes that have waited three seconds, and runs later ones', async (t) => {
    let now = 0
    t.mock.method(performance, 'now', () => now)
    const ends: (() => void)[] = []
    const { group } = makeGroup(async (inputs) => {
      await new Promise<void>((resolve) => ends.push(resolve))
      return answerAll(inputs)
    })
    const held = [group.write('a')]
    await turn()
    held.push(group.write('b'))
    await turn()
    const late = assert.rejects(group.write('late'), TooManyWaiting)
    now = 3_001
    const inTime = group.write('in time')
    ends[0]?.()
    await late
    await turn()
    for (const end of ends) end()
    assert.equal(await inTime, 'together in time')
    await Promise.all(held)
  })
})

it('the writes on PostgreSQL refuse the 10,001st at a time as too many, not as an outage', async () => {
  const endless = { setIsolationLevel: () => endless, execute: () => new Promise(() => undefined) }
  const transactions = { transaction: () => endless } as unknown as Kysely<Database>
  const operations = { add: async () => undefined }
  const writes = new Writes({
    operations,
    groupedOperations: {},
    transactions,
    groupTransactions: transactions,
  })
  for (let count = 0; count < 10_000; count += 1) void writes.write('add', null)
  await assert.rejects(writes.write('add', null), TooManyWaiting)
})

it('the lists on PostgreSQL let 128 of one caller wait, and refuse more', async () => {
  const endless = { acquire: () => new Promise<never>(() => undefined), release: () => undefined }
  const options = { names: undefined, poolSize: 10, transactionLimitMilliseconds: 4_000 }
  const reads = new Reads({ find: async () => undefined }, endless, options)
  const refused: unknown[] = []
  for (let count = 0; count < 200; count += 1) {
    reads
      .query('find', null, { limitMilliseconds: 2_000, caller: 'one' })
      .catch((error) => refused.push(error))
  }
  await turn()
  assert.equal(reads.load.waiting, 128)
  assert.equal(refused.length, 200 - 128 - (reads.load.running ?? 0))
  assert.ok(refused.every((error) => error instanceof TooManyWaiting))
  reads.close()
})

it('a transaction past its limit sends no commit, and its connection is given up', async (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const sent: string[] = []
  const given: boolean[] = []
  const client = {
    async query({ text }: { text: string }) {
      sent.push(text.trim())
      return { rows: [], command: text.toUpperCase() }
    },
  }
  const source = {
    acquire: async () => client as unknown as Client,
    release: (_client: Client, failed: boolean) => void given.push(failed),
  }
  const options = { names: undefined, transactionLimitMilliseconds: 4_000 }
  const transactions = new Kysely<Database>({ dialect: postgresDialect(source, options) }).transaction()
  const lasting = (end: number) =>
    transactions.execute(async () => {
      now = end
    })
  await lasting(3_999)
  await assert.rejects(lasting(7_999), DatabaseUnavailable)
  assert.deepEqual(sent, ['begin', 'commit', 'begin'])
  assert.deepEqual(given, [false, true])
})
