import { type Kysely, sql, type Transaction } from '#kysely'
import { holdLease, type Lease } from '../../server/db/lease.ts'
import type { Database } from '../../server/db/tables.ts'
import { Problem } from '../../server/problems/problems.ts'

type Trx = Transaction<Database>

const add = (trx: Trx, name: string) => trx.insertInto('roles').values({ name }).execute()

/** Blocks the thread, so that the transaction stays open, until the latch is 1 at the latest. */
function block(milliseconds: number, latch = new SharedArrayBuffer(4)): void {
  Atomics.wait(new Int32Array(latch), 0, 0, milliseconds)
}

/** Write operations for tests of the database port: each stores one name in the table of roles. */
export const testOperations = {
  async add(trx: Trx, { name }: { name: string }): Promise<string> {
    await add(trx, name)
    return name
  },
  async addThenFail(trx: Trx, { name }: { name: string }): Promise<void> {
    await add(trx, name)
    throw new Error(`failed after ${name}`)
  },
  async addThenRefuse(trx: Trx, { name }: { name: string }): Promise<void> {
    await add(trx, name)
    throw new Problem('order-not-pending', { members: { currentStatus: 1 } })
  },
  async addThenBlock(
    trx: Trx,
    { name, milliseconds, latch }: { name: string; milliseconds: number; latch?: SharedArrayBuffer },
  ): Promise<void> {
    await add(trx, name)
    block(milliseconds, latch)
  },
  /** Stores the name while it holds the lease. Returns the term. */
  async addHolding(trx: Trx, { name, lease }: { name: string; lease: Lease }): Promise<number | null> {
    const term = await holdLease(trx, lease)
    if (term !== null) await add(trx, name)
    return term
  },
  /** Slowly records who worked in which term, in a table that the test made (PostgreSQL). */
  async workHolding(trx: Trx, { pid, lease }: { pid: number; lease: Lease }): Promise<number | null> {
    const term = await holdLease(trx, lease)
    if (term === null) return null
    await sql`insert into works (pid, term) values (${pid}, ${term})`.execute(trx)
    await sql`select pg_sleep(0.03)`.execute(trx)
    return term
  },
  /** Ends the whole writer thread in the middle of its transaction. */
  async addThenCrash(trx: Trx, { name }: { name: string }): Promise<void> {
    await add(trx, name)
    process.exit(1)
  },
  /** Limits the file to this many pages: SQLite then reports a full disk. */
  async limitPages(trx: Trx, { pages }: { pages: number }): Promise<void> {
    await sql.raw(`pragma max_page_count = ${pages}`).execute(trx)
  },
  async count(trx: Kysely<Database>, _input: null): Promise<number> {
    const { count } = await trx
      .selectFrom('roles')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return Number(count)
  },
}

export type TestOperations = typeof testOperations
