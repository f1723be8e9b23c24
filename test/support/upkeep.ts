import { removals } from '../../server/upkeep.ts'
import type { Service } from './service.ts'

/** One portion of every kind of clean-up, by the service's clock. Returns the greatest number of rows of a kind. */
export async function removeExpired({ db, config, now }: Service, limit: number): Promise<number> {
  const names = Object.keys(removals) as (keyof typeof removals)[]
  const sessionIdleTtlMilliseconds = config.sessionIdleTtlSeconds * 1000
  const input = { nowMilliseconds: now(), sessionIdleTtlMilliseconds, limit }
  return Math.max(...(await Promise.all(names.map((name) => db.write(name, input)))))
}
