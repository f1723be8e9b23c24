import { readOn } from '../audit/audit.ts'
import type { Db } from '../db/tables.ts'
import { findSubscriptions, type Subscription } from './store.ts'

/** How far a subscription is behind the log. */
interface Waiting {
  /** Its place, unless a restore set it back. */
  sequence: number
  /** Events after that, whether it asks for them or not. */
  waiting: number
  /** When the oldest of them happened. */
  oldestAt: number | undefined
}

export interface Backlog extends Waiting, Pick<Subscription, 'kind' | 'id'> {}

/** How far each enabled subscription is behind. */
export async function reportOnOutbox(db: Db): Promise<Backlog[]> {
  const enabled = (await findSubscriptions(db)).filter((subscription) => subscription.enabled)
  return Promise.all(
    enabled.map(async ({ kind, id, place }) => ({ kind, id, ...(await waitingAt(db, place)) })),
  )
}

export async function waitingAt(db: Db, place: Subscription['place']): Promise<Waiting> {
  const { from, events, end } = await readOn(db, place, 1)
  return { sequence: from.sequence, waiting: end.sequence - from.sequence, oldestAt: events[0]?.at }
}
