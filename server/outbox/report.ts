import { readOn } from '../audit/audit.ts'
import type { Db } from '../db/tables.ts'
import { findSubscriptions, type Subscription } from './store.ts'

/** How far an enabled subscription is behind the log. */
export interface Backlog extends Pick<Subscription, 'kind' | 'id'> {
  /** Events after its place, whether it asks for them or not. */
  waiting: number
  /** When the oldest of them happened. */
  oldestAt: number | undefined
}

export async function reportOnOutbox(db: Db): Promise<Backlog[]> {
  const enabled = (await findSubscriptions(db)).filter((subscription) => subscription.enabled)
  return Promise.all(
    enabled.map(async ({ kind, id, place }) => {
      const { from, events, end } = await readOn(db, place, 1)
      return { kind, id, waiting: end.sequence - from.sequence, oldestAt: events[0]?.at }
    }),
  )
}
