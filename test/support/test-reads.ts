import { type Kysely, sql } from '#kysely'
import { ofEngine } from '../../server/db/engine.ts'
import type { Database } from '../../server/db/tables.ts'
import { Problem } from '../../server/problems/problems.ts'
import { testOperations } from './test-operations.ts'

type Db = Kysely<Database>

const endless = {
  sqlite: sql`with recursive n(i) as (select 1 union all select i + 1 from n where within_time() = 1)
    select count(*) from n`,
  postgres: sql`select pg_sleep(3600)`,
}

const asleep = new Int32Array(new SharedArrayBuffer(4))

/** Read operations for tests of the database port. */
export const testReads = {
  countTwice: async (db: Db, _input: null) => [
    await testOperations.count(db, null),
    await testOperations.count(db, null),
  ],
  /** Never ends by itself. */
  endless: async (db: Db, _input: null): Promise<void> => void (await ofEngine(db, endless).execute(db)),
  /** Never ends by itself either, and needs next to no processor meanwhile. */
  async lasting(db: Db, _input: null): Promise<void> {
    for (;;) {
      Atomics.wait(asleep, 0, 0, 5)
      await sql`select within_time()`.execute(db)
    }
  },
  /** Ignores being stopped, and asks again. */
  async stubborn(db: Db, _input: null): Promise<void> {
    await ofEngine(db, endless)
      .execute(db)
      .catch(() => undefined)
    await sql`select within_time()`.execute(db)
  },
  async refuse(_db: Db, _input: null): Promise<void> {
    throw new Problem('order-not-pending', { members: { currentStatus: 1 } })
  },
  async fail(_db: Db, { message }: { message: string }): Promise<void> {
    throw new Error(message)
  },
  /** Ends the whole thread. */
  crash: async (_db: Db, _input: null): Promise<void> => process.exit(1),
  /** Keeps 640 MB of numbers: more than a thread may have. */
  hoard: async (_db: Db, _input: null) =>
    Array.from({ length: 20 }, (_, part) => new Array<number>(4_000_000).fill(part / 2)).length,
}

export type TestReads = typeof testReads
