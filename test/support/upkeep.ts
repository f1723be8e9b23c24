import type { AppDatabase } from '../../server/db/port.ts'
import { jobs } from '../../server/operations.ts'
import type { Service } from './service.ts'

/** Terms of the leases of each database's jobs, as its upkeep keeps them. */
const terms = new WeakMap<AppDatabase, Map<string, number | null>>()

/**
 * Runs one batch of each job of one instance, by the service's clock. Returns the greatest number of rows.
 */
export async function removeExpired(
  { db, config, now }: Pick<Service, 'db' | 'config' | 'now'>,
  limit: number,
): Promise<number> {
  const held = terms.get(db) ?? new Map<string, number | null>()
  terms.set(db, held)
  const batches = jobs
    .filter(({ isAlone }) => isAlone)
    .map(async ({ name, keptMilliseconds }) => {
      const term = held.get(name) ?? null
      const beforeMilliseconds = now() - (keptMilliseconds?.(config) ?? 0)
      const result = await db.write('runJob', { name, term, beforeMilliseconds, limit })
      held.set(name, result.term)
      return result.done
    })
  return Math.max(...(await Promise.all(batches)))
}

/** Moves at most `limit` changes of orders into the tally (PostgreSQL). Returns how many. */
export async function mergeTally(db: AppDatabase, limit: number): Promise<number> {
  const batch = { name: 'mergeTallyChanges', term: null, beforeMilliseconds: 0, limit }
  return (await db.write('runJob', batch)).done
}
