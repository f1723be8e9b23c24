import { sql } from '#kysely'
import { ofEngine } from './engine.ts'
import type { Trx } from './tables.ts'

/** Longer than a transaction and the pause after it can take. */
const leaseMilliseconds = 10_000

/** A term that ends this much later than one that begins now was begun before the clock was set back. */
const clockDifferenceMilliseconds = 60_000

/** The database's clock, which all instances share. */
const now = {
  sqlite: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
  postgres: sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`,
}

export interface Lease {
  name: string
  /** The term that the caller holds. Null asks for a new term, which begins once the last one has ended. */
  term: number | null
  milliseconds?: number
}

/**
 * Gives work that takes several transactions to one holder at a time, over all instances (ADR 43). Call it
 * first in each of those transactions. It begins or extends a term and returns its number, or null if another
 * holder has the lease. The row stays locked until the transaction ends, so nobody can take the lease before
 * the commit, and a holder that lost it while stalled cannot commit any more.
 */
export async function holdLease(
  trx: Trx,
  { name, term, milliseconds = leaseMilliseconds }: Lease,
): Promise<number | null> {
  const at = ofEngine(trx, now)
  const endsAt = sql<number>`${at} + ${sql.lit(milliseconds)}`
  const ahead = sql<number>`${at} + ${sql.lit(milliseconds + clockDifferenceMilliseconds)}`
  const begun = trx
    .insertInto('leases')
    .values({ name, term: 1, ends_at: endsAt })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ term: (eb) => eb('leases.term', '+', 1), ends_at: endsAt })
        .where('leases.ends_at', '<=', at),
    )
    .returning('term')
  const extended = trx
    .updateTable('leases')
    .set({ ends_at: endsAt })
    .where('name', '=', name)
    .where('term', '=', term)
    .returning('term')
  // Its holder may be at work, so others wait for one term from now on.
  const shortened = trx.updateTable('leases').set({ ends_at: endsAt }).where('name', '=', name)
  if (term === null) await shortened.where('ends_at', '>', ahead).execute()
  const held = await (term === null ? begun : extended).executeTakeFirst()
  return held?.term ?? null
}

/** Ends the term of a holder that stops, so that the next need not wait. */
export async function endLease(trx: Trx, { name, term }: Pick<Lease, 'name' | 'term'>): Promise<void> {
  await trx
    .updateTable('leases')
    .set({ ends_at: 0 })
    .where('name', '=', name)
    .where('term', '=', term)
    .execute()
}
