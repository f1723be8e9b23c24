import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import { type AppDatabase, pageLimitMilliseconds } from '../db/port.ts'
import { callerOf, header } from './route.ts'

/** A change that can take from someone the right to approve answers with it. */
export const strandedHeader = header(
  'Waits-For-Nobody',
  'How many pending orders nobody could approve now, by the rules that were written onto them; absent if none. The filter `waits:nobody` finds them.',
  { example: '3' },
)

/** Says in the answer to a change how many orders nobody could approve after it. */
export async function tellStranded(
  { db, clock }: { db: AppDatabase; clock: Clock },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const options = { limitMilliseconds: pageLimitMilliseconds, caller: String(callerOf(request).id) }
  // The change is made: if counting takes too long, that is no fault of it.
  const count = await db.query('countStranded', { nowMilliseconds: clock() }, options).catch(() => 0)
  if (count > 0) reply.header(strandedHeader.name, String(count))
}
