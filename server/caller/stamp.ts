import { userInfo } from 'node:os'
import { newOrderedId, newSalt } from '../ids.ts'
import type { Person, Principal, Standing } from './principal.ts'

/** Who did something, when and where: every write operation gets one with its input. */
export interface Stamp {
  /** UUIDv7 of the event that the operation records. */
  eventId: string
  /** 16 random bytes, hexadecimal: the salts of the event are made from it, and it is not kept. */
  seed: string
  nowMilliseconds: number
  /** IANA name; null where local time has no meaning. */
  timeZone: string | null
  /**
   * User name or clientId; `machine:` and the account of the machine that runs a command; `company:` and the
   * host of a provider.
   */
  by: string
  /** The name of that person as it is printed, if there is one. */
  byName?: string | null | undefined
  byId: number | null
  /** Absent for a person and a command line. */
  isService?: boolean
  /** The absent person in whose place it was done. */
  for?: Person | undefined
  /** Absent for a command line and a one-time link. */
  standing?: Standing | undefined
}

/** The stamp of a request. */
export function stampOf(
  caller: Pick<Principal, 'id' | 'userName'> & Partial<Pick<Principal, 'fullName' | 'kind' | 'standing'>>,
  nowMilliseconds: number,
  timeZone: string | null,
): Stamp & { byId: number; isService: boolean } {
  return {
    eventId: newOrderedId(nowMilliseconds),
    seed: newSalt(),
    nowMilliseconds,
    timeZone,
    by: caller.userName,
    byName: caller.fullName,
    byId: caller.id,
    isService: caller.kind === 'client',
    standing: caller.standing,
  }
}

/** The stamp of a command line or the development's seed. No account has a colon in its name. */
export function machineStamp(nowMilliseconds: number): Stamp {
  return {
    eventId: newOrderedId(nowMilliseconds),
    seed: newSalt(),
    nowMilliseconds,
    timeZone: null,
    by: `machine:${machineAccount()}`,
    byId: null,
  }
}

/** The stamp of what the provider of company accounts says. */
export function companyStamp(nowMilliseconds: number, issuer: string): Stamp {
  return { ...machineStamp(nowMilliseconds), by: `company:${new URL(issuer).host}` }
}

/** The operating system's account of this process. In a container it may be a number without a name. */
export function machineAccount(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.())
  }
}
