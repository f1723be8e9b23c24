import { userInfo } from 'node:os'
import { newOrderedId } from '../ids.ts'
import type { Principal } from '../principal.ts'
import type { Stamp } from './event.ts'

/** Of what a caller asks for by HTTP. */
export function stampOf(
  caller: Pick<Principal, 'id' | 'userName'>,
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

/** Of what the machine does: a command line, or the development's seed. No account has a colon in its name. */
export function machineStamp(nowMilliseconds: number): Stamp {
  return {
    eventId: newOrderedId(nowMilliseconds),
    nowMilliseconds,
    timeZone: null,
    by: `machine:${machineAccount()}`,
    byId: null,
  }
}

/** The account of the machine that this process runs as. A container may run under a number that has no name. */
export function machineAccount(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.())
  }
}
