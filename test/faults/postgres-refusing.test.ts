// engine: PostgreSQL
import { after, afterEach, before, describe, it } from 'node:test'
import { runSql, withoutPostgres } from '../support/postgres.ts'
import { newProduction, type Production } from '../support/production.ts'
import { NoWrites } from './no-writes.ts'

const tables = ['orders', 'sessions', 'session_ids', 'refresh_families']

/** Errors of a server whose disk is full: https://www.postgresql.org/docs/18/errcodes-appendix.html */
const refusals = {
  'its disk is full': '53100',
  'reading and writing fail': '58030',
  'its memory is exhausted': '53200',
} as const

describe('when PostgreSQL cannot write any more', { skip: withoutPostgres }, () => {
  let production: Production
  let service: NoWrites
  before(async () => {
    production = await newProduction()
    service = await NoWrites.serve(production)
  })
  after(() => production?.remove())

  const query = (statement: string) => runSql(production.databaseUrl, statement)
  const name = () => new URL(production.databaseUrl).pathname.slice(1)

  let mend: () => Promise<unknown> = async () => undefined
  afterEach(async () => {
    await mend()
    mend = async () => undefined
  })

  const assertOutlives = (fault: () => Promise<unknown>) =>
    service.assertOutlives(async () => {
      await fault()
      await service.assertReadsOnly()
      await mend()
      mend = async () => undefined
    })

  for (const [what, code] of Object.entries(refusals)) {
    it(`because ${what}: 503 while it lasts, reads go on, and then writes do`, () =>
      assertOutlives(async () => {
        mend = () => query('drop function if exists fault cascade')
        await query(
          `create function fault() returns trigger language plpgsql as
             $$ begin raise exception 'injected' using errcode = '${code}'; end $$`,
        )
        for (const table of tables) {
          await query(
            `create trigger fault before insert or update on ${table} for each row execute function fault()`,
          )
        }
      }))
  }

  it('because it has become read-only: 503 while it lasts, reads go on, and then writes do', () =>
    assertOutlives(async () => {
      const terminate = `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = '${name()}' and pid <> pg_backend_pid()`
      mend = async () => {
        await query(`begin read write; alter database ${name()} reset default_transaction_read_only; commit`)
        await query(terminate)
      }
      await query(`alter database ${name()} set default_transaction_read_only = on`)
      await query(terminate)
    }))
})
