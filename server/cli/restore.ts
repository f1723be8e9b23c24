import { headOfLog } from '../audit/audit.ts'
import { type BegunEra, beginEra } from '../audit/era.ts'
import { formatInstant } from '../clock.ts'
import { restoreDatabase } from '../db/restore.ts'
import { type Invocation, type Outcome, requiredArgument, wholeNumber } from './command.ts'
import { commandStamp, databaseOf, refuseMissingDatabase, withDatabase } from './database.ts'

const greatestEra = 1_000_000

/** Puts a backup in the place of the database. The restored log is in its next era at once. */
export async function runRestore(invocation: Invocation): Promise<Outcome> {
  const backup = requiredArgument(invocation, 0, 'the backup')
  const given = eraOf(invocation)
  const stamp = commandStamp()
  const time = formatInstant(stamp.nowMilliseconds).replaceAll(/[:.]/g, '-')
  // The restored database holds password hashes: only its owner may read it.
  process.umask(0o077)
  const { file, former, changed } = await restoreDatabase({
    databaseUrl: databaseOf(invocation).databaseUrl,
    backup,
    formerName: (name) => `${name}.before-${time}`,
    async change(restored, formerDatabase) {
      // The backup does not know of eras that began after it. A database that is damaged knows none.
      const { era } = await headOfLog(formerDatabase).catch(() => ({ era: 0 }))
      return beginEra(restored, { atLeast: Math.max(given, era + 1), stamp })
    },
  })
  const kept = former === undefined ? '' : `\nThe former database is ${former}.`
  return {
    value: { file, former: former ?? null, ...changed },
    text: `Restored ${file} from ${backup}.\n${describeEra(changed)}${kept}`,
    hint: 'Everything written after the backup is gone: see "Restore" in docs/operations.md.',
  }
}

/** After a database has gone back by other means than `restore`. */
export async function runLogRestored(invocation: Invocation): Promise<Outcome> {
  refuseMissingDatabase(databaseOf(invocation).databaseUrl)
  const input = { atLeast: eraOf(invocation), stamp: commandStamp() }
  const begun = await withDatabase(invocation, (db) => db.write('beginEra', input))
  return { value: begun, text: describeEra(begun) }
}

function eraOf(invocation: Invocation): number {
  return wholeNumber(invocation, 'era', greatestEra, 1)
}

function describeEra({ era, last: { sequence } }: BegunEra): string {
  return `Era ${era} of the log begins after event ${sequence}, the last that is left.`
}
