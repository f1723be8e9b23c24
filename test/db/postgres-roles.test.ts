// engine: PostgreSQL
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createServedDatabase, type ServedDatabase } from '../support/documented-roles.ts'
import { runSql, withoutPostgres } from '../support/postgres.ts'

/** `startService` gives every test on PostgreSQL this role, so the suite shows that it may do enough. */
describe('the role of the service in docs/operations.md', { skip: withoutPostgres }, () => {
  let database: ServedDatabase
  before(async () => {
    database = await createServedDatabase()
  })
  after(() => database?.drop())

  for (const statement of [
    "update events set data = '{}'",
    "update events set hash = ''",
    'update events set sequence = sequence + 1',
    'delete from events',
    'truncate events',
    "update unsealed_events set data = '{}'",
    "update log_tiles set hashes = ''",
    'delete from log_tiles',
    'delete from log_head',
    "insert into log_head (id, era, size, root, edge) values (1, 1, 0, '', '[]')",
    'update log_head set id = 1',
    'delete from log_cosigned',
    'delete from log_witnesses',
    'delete from orders',
    'update order_approvals set account_id = 1',
    'delete from order_approvals',
    'delete from principals',
    'delete from users',
    'delete from clients',
    'update schema_migrations set name = name',
    'alter table events add column other text',
    'create table other (id integer)',
    'create temporary table other (id integer)',
  ]) {
    it(`cannot: ${statement}`, async () => {
      await assert.rejects(runSql(database.appUrl, statement), { code: '42501' })
    })
  }

  it('can erase what is clear in an event', async () => {
    assert.deepEqual(await runSql(database.appUrl, "update events set clear = '{}'"), [])
  })
})
