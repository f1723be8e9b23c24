// engine: PostgreSQL
import { afterEach, before, describe, it } from 'node:test'
import { catalogue } from '../../server/problems/catalogue.ts'
import { runSql, withoutPostgres } from '../support/postgres.ts'
import { testProduction } from '../support/production.ts'
import { NoWrites } from './no-writes.ts'

const tables = ['orders', 'sessions', 'session_ids', 'refresh_families']

/** Errors of a server whose disk is full: https://www.postgresql.org/docs/18/errcodes-appendix.html */
const refusals = {
  'its disk is full': ['53100', 'The database takes no changes: its disk is full.', 'full'],
  'reading and writing fail': ['58030', catalogue['database-unavailable'].remedy, undefined],
  'its memory is exhausted': ['53200', catalogue['database-unavailable'].remedy, undefined],
} as const

const readOnly = 'The database takes no changes: it is read-only.'

describe('when PostgreSQL cannot write any more', { skip: withoutPostgres }, () => {
  const production = testProduction()
  let service: NoWrites
  before(async () => {
    service = await NoWrites.serve(production)
  })

  const query = (statement: string) => runSql(production.databaseUrl, statement)
  const name = () => new URL(production.databaseUrl).pathname.slice(1)

  afterEach(() => service.mended())

  for (const [what, [code, detail, warning]] of Object.entries(refusals)) {
    it(`because ${what}: writes answer 503 and reads continue, then writes work again`, () =>
      service.assertOutlives(
        async () => {
          service.mend = () => query('drop function if exists fault cascade')
          await query(
            `create function fault() returns trigger language plpgsql as
             $$ begin raise exception 'injected' using errcode = '${code}'; end $$`,
          )
          for (const table of tables) {
            await query(
              `create trigger fault before insert or update on ${table} for each row execute function fault()`,
            )
          }
        },
        { detail, warning, refusal: warning },
      ))
  }

  it('because it has become read-only: writes answer 503 and reads continue, then writes work again', () =>
    service.assertOutlives(
      async () => {
        const terminate = `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = '${name()}' and pid <> pg_backend_pid()`
        service.mend = async () => {
          await query(
            `begin read write; alter database ${name()} reset default_transaction_read_only; commit`,
          )
          await query(terminate)
        }
        await query(`alter database ${name()} set default_transaction_read_only = on`)
        await query(terminate)
        // Each connection of the pool finds out once that it was ended.
        for (let tries = 0; tries < 20 && (await service.create()).body.detail !== readOnly; tries += 1);
      },
      { detail: readOnly, warning: 'read-only' },
    ))
})
