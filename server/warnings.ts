import { latestEventTime, oldestUnsealed } from './audit/audit.ts'
import { type Clock, clockDifferenceMilliseconds } from './clock.ts'
import type { AppDatabase } from './db/port.ts'
import { type Warning, warningNames } from './http/health.ts'
import type { Log } from './log.ts'
import { repeat } from './upkeep.ts'

interface WarningParts {
  db: AppDatabase
  clock: Clock
}

/**
 * An event is sealed within two seconds, unless no instance does it. Events from before the process began may
 * be older, such as invented ones.
 */
const sealedWithinMilliseconds = 10_000

/** Everything that a ready instance warns of now. */
export async function findWarnings({ db, clock }: WarningParts): Promise<Warning[]> {
  const [refusal, unsealedAt, latestAt] = await Promise.all([
    db.refusesWrites(),
    oldestUnsealed(db.read),
    latestEventTime(db.read),
  ])
  const now = clock()
  const holds: Record<Warning, boolean> = {
    'read-only': refusal === 'read-only',
    full: refusal === 'full',
    'not-sealing':
      unsealedAt !== undefined && Math.min(now - unsealedAt, performance.now()) > sealedWithinMilliseconds,
    'clock-behind': latestAt !== undefined && latestAt - now > clockDifferenceMilliseconds,
  }
  return warningNames.filter((name) => holds[name])
}

/** Logs each jump of the clock, seen against a clock that nobody sets. Returns the way to stop. */
export function watchClock(clock: Clock, log: Pick<Log, 'info' | 'warn'>): () => void {
  const difference = () => clock() - performance.now()
  let last = difference()
  const run = async () => {
    const jump = difference() - last
    last += jump
    if (Math.abs(jump) <= clockDifferenceMilliseconds) return
    const seconds = Math.round(Math.abs(jump) / 1000)
    const way = jump < 0 ? 'back' : 'forward'
    log.warn(
      { event: 'clock-jumped', jumpSeconds: Math.round(jump / 1000) },
      `the clock went ${way} by ${seconds} s`,
    )
  }
  return repeat({ everyMilliseconds: 1_000, run, failure: 'the clock could not be read' }, log)
}
