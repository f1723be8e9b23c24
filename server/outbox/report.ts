import { continuedPlace, endOfLog, sealedEvents } from '../audit/audit.ts'
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
  const end = await endOfLog(db)
  const enabled = (await findSubscriptions(db)).filter((subscription) => subscription.enabled)
  return Promise.all(
    enabled.map(async ({ kind, id, place }) => {
      const { sequence } = await continuedPlace(db, place)
      const next = { first: sequence + 1, last: sequence + 1, direction: 'asc' } as const
      const oldestAt = (await sealedEvents(db, next))[0]?.at
      return { kind, id, waiting: end.sequence - sequence, oldestAt }
    }),
  )
}
