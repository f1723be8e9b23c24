import type { Principal } from '../auth/principal.ts'
import { newOrderedId } from '../ids.ts'
import type { Stamp } from './event.ts'

/** Of what a caller asks for by HTTP. */
export function stampOf(
  caller: Principal,
  nowMilliseconds: number,
  timeZone: string | null,
): Stamp & { byId: number } {
  return {
    eventId: newOrderedId(nowMilliseconds),
    nowMilliseconds,
    timeZone,
    by: caller.userName,
    byId: caller.id,
  }
}
