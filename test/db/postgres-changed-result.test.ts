// engine: PostgreSQL
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { sql } from '#kysely'
import { openPostgres } from '../../server/db/postgres/open.ts'
import type { Db, Trx } from '../../server/db/tables.ts'
import { createTestDatabase } from '../support/database.ts'
import { startPooler } from '../support/pooler.ts'
import { runSql, withoutPostgres } from '../support/postgres.ts'

/** Its result gets another form with each column of the table. */
const readAll = async (db: Db, _input: null = null) =>
  (await sql<Record<string, unknown>>`select * from later`.execute(db)).rows
const readMore = async (db: Db) => (await sql`select *, 1 as one from later`.execute(db)).rows

/** Writes before its statements turn out to be outdated, one after the other. */
async function add(trx: Trx, { name }: { name: string }) {
  await sql`insert into added (name) values (${name})`.execute(trx)
  await readMore(trx)
  return readAll(trx)
}

const operations = { add, addInGroup: add }
const registry = {
  operations,
  groupedOperations: {
    addInGroup: async (trx: Trx, inputs: { name: string }[]) => {
      const found = []
      for (const input of inputs) found.push(await add(trx, input))
      return found
    },
  },
  reads: { readAll, readOnce: readAll },
  singleReads: { readOnce: readAll },
}

async function openBoth(t: TestContext, transactionPooler: boolean) {
  const database = await createTestDatabase()
  t.after(() => database.drop())
  await runSql(database.databaseUrl, 'create table later (first integer); create table added (name text)')
  await runSql(database.databaseUrl, 'insert into later values (1)')
  const pooler = transactionPooler ? await startPooler(database.databaseUrl, 'transaction') : undefined
  const url = pooler?.url ?? database.databaseUrl
  const port = openPostgres<typeof operations, typeof registry.reads>(
    { url, poolSize: 3, transactionPooler, isPatient: false },
    registry,
  )
  t.after(async () => {
    await port.close()
    await pooler?.close()
  })
  return { port, databaseUrl: database.databaseUrl }
}

describe('a statement whose result has changed since it was prepared', { skip: withoutPostgres }, () => {
  for (const [where, transactionPooler] of [
    ['without a pooler', false],
    ['behind a pooler by transaction', true],
  ] as const) {
    it(`runs again, by every way there is and only once, ${where}`, async (t) => {
      const { port, databaseUrl } = await openBoth(t, transactionPooler)
      const options = { limitMilliseconds: 2_000, caller: 'a' }
      let writes = 0
      const everyWay = async () => {
        const ways = Array.from({ length: 4 }, () => [
          readAll(port.read),
          port.query('readAll', null, options),
          port.query('readOnce', null, options),
          port.write('add', { name: `${++writes}` }),
          port.write('addInGroup', { name: `${++writes}` }),
        ])
        return new Set((await Promise.all(ways.flat())).map((rows) => JSON.stringify(rows)))
      }
      assert.deepEqual(await everyWay(), new Set(['[{"first":1}]']))
      await everyWay()
      await runSql(databaseUrl, 'alter table later add column second integer not null default 2')
      assert.deepEqual(await everyWay(), new Set(['[{"first":1,"second":2}]']))
      await runSql(databaseUrl, 'alter table later alter column first type text')
      assert.deepEqual(await everyWay(), new Set(['[{"first":"1","second":2}]']))
      const added = await runSql<{ name: string }>(databaseUrl, 'select name from added')
      assert.deepEqual(
        added.map(({ name }) => Number(name)).sort((a, b) => a - b),
        Array.from({ length: writes }, (_, index) => index + 1),
      )
    })
  }
})
