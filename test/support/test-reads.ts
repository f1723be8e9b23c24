import { type Kysely, sql } from 'kysely'
import type { Database } from '../../server/db/tables.ts'
import { Problem } from '../../server/http/problems.ts'
import { testOperations } from './test-operations.ts'

type Db = Kysely<Database>

const endless = sql`with recursive n(i) as (select 1 union all select i + 1 from n where within_time() = 1)
  select count(*) from n`

/** Far more than 3 ms of work, and far less than a minute. */
const long = sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000 and within_time() = 1)
  select count(*) from n`

/** Read operations for tests of the database port. */
export const testReads = {
  countTwice: {
    run: async (db: Db, _input: null) => [
      await testOperations.count(db, null),
      await testOperations.count(db, null),
    ],
  },
  /** Never ends by itself. */
  endless: {
    run: async (db: Db, _input: null): Promise<void> => void (await endless.execute(db)),
  },
  /** Runs for so many milliseconds, or until it is stopped. */
  lasting: {
    async run(db: Db, milliseconds: number): Promise<string> {
      const end = performance.now() + milliseconds
      while (performance.now() < end) await sql`select within_time()`.execute(db)
      return 'done'
    },
  },
  /** Takes no notice of being stopped, and asks again. */
  stubborn: {
    async run(db: Db, _input: null): Promise<void> {
      await endless.execute(db).catch(() => undefined)
      await sql`select within_time()`.execute(db)
    },
  },
  refuse: {
    run: async (_db: Db, _input: null): Promise<void> => {
      throw new Problem('order-not-pending', { members: { currentStatus: 1 } })
    },
  },
  fail: {
    run: async (_db: Db, { message }: { message: string }): Promise<void> => {
      throw new Error(message)
    },
  },
  /** Ends the whole thread. */
  crash: {
    run: async (_db: Db, _input: null): Promise<void> => process.exit(1),
  },
  /** Keeps 640 MB of numbers: more than a thread may have. */
  hoard: {
    run: async (_db: Db, _input: null) =>
      Array.from({ length: 20 }, (_, part) => new Array<number>(4_000_000).fill(part / 2)).length,
  },
  /** Answers at once for what is small, and says where it ran. */
  quickWhenSmall: {
    quick: async (_db: Db, size: number) => (size < 10 ? 'quick' : undefined),
    run: async (_db: Db, _size: number) => 'thorough',
  },
  /** Is not quick after all. */
  quickInVain: {
    quick: async (db: Db, _input: null): Promise<string> => endless.execute(db).then(() => 'quick'),
    run: async (_db: Db, _input: null) => 'thorough',
  },
  /** Is not quick either, and ends by itself if nobody stops it. */
  quickForLong: {
    quick: async (db: Db, _input: null): Promise<string> => long.execute(db).then(() => 'quick'),
    run: async (_db: Db, _input: null) => 'thorough',
  },
}

export type TestReads = typeof testReads
