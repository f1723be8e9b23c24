import { existsSync, statSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { headOfLog } from '../audit/audit.ts'
import { type BegunEra, beginEra } from '../audit/sealing/era.ts'
import { hasAdministrator } from '../auth/accounts/roles/store.ts'
import { hasAccounts } from '../auth/accounts/store.ts'
import { formatInstant, systemClock } from '../clock.ts'
import { addressOf } from '../db/address.ts'
import { type CopyProgress, type CopyReport, copyDatabase } from '../db/copy/copy.ts'
import { DatabaseRefused } from '../db/errors.ts'
import { backUpDatabase, judgeDatabase, migrateDatabase } from '../db/open.ts'
import type { AppDatabase } from '../db/port.ts'
import { restoreDatabase } from '../db/restore.ts'
import { makeOrders, type People } from '../demo/orders.ts'
import { eraseAgain, formerErasures } from '../erasure/again.ts'
import { countByStatus } from '../orders/tally.ts'
import { readVersion } from '../version.ts'
import { type Invocation, type Outcome, requiredArgument, requiredText, wholeNumber } from './command.ts'
import { commandStamp, databaseOf, refuseMissingDatabase, withDatabase } from './database.ts'
import { Refused } from './failures.ts'
import { erasuresIn, lostErasures } from './lost-erasures.ts'
import { grouped, progressPrinter, table } from './output.ts'

const upToDate = 'The database is up to date.'

export async function runMigrate(invocation: Invocation): Promise<Outcome> {
  if (invocation.switches.has('check')) return checkMigrations(invocation)
  const applied = await migrateDatabase({
    ...databaseOf(invocation),
    onNotice: (message) => process.stderr.write(`${message}\n`),
  })
  return { value: { applied }, text: applied.length === 0 ? upToDate : `Applied ${applied.join(', ')}.` }
}

/** Changes nothing. */
async function checkMigrations(invocation: Invocation): Promise<Outcome> {
  const { databaseUrl } = databaseOf(invocation)
  refuseMissingDatabase(databaseUrl)
  const { pending, refusal } = await judgeDatabase({ databaseUrl })
  if (refusal !== null) throw new DatabaseRefused(refusal)
  const lines = pending.map(({ name, locks }) =>
    locks.length === 0
      ? `${name}: locks no table that is in use`
      : `${name}: locks ${locks.join(', ')} for a moment, for which it waits a second at a time`,
  )
  return { value: { pending }, text: lines.length === 0 ? upToDate : lines.join('\n') }
}

/** Says of any database which releases serve it. */
export async function runVersion(invocation: Invocation): Promise<Outcome> {
  const version = readVersion()
  const text = `countersign ${version}, Node ${process.versions.node}`
  const given = invocation.texts.check
  if (given === undefined) return { value: { version }, text }
  const databaseUrl = addressOf(given)
  refuseMissingDatabase(databaseUrl)
  const { oldestRelease, refusal, pending } = await judgeDatabase({ databaseUrl })
  const own = refusal ?? (pending.length > 0 ? 'This one migrates it first.' : 'This one reads it, too.')
  return {
    value: { version, oldestRelease, isServed: refusal === null, pending },
    text: [text, describeReaders(oldestRelease), own].join('\n'),
  }
}

const describeReaders = (oldestRelease: string | null) =>
  oldestRelease === null
    ? 'No release reads it.'
    : `Countersign ${oldestRelease} and every later 1.x read it.`

export async function runBackup(invocation: Invocation): Promise<Outcome> {
  const file = requiredArgument(invocation, 0, 'the file')
  if (existsSync(file)) throw new Refused('file-exists', `${file} already exists; it was not changed`)
  const folder = dirname(file)
  if (!existsSync(folder)) throw new Refused('no-such-folder', `there is no folder ${folder}`)
  // The copy holds password hashes: only its owner may read it, from its first byte on.
  process.umask(0o077)
  const oldestRelease = await backUpDatabase(databaseOf(invocation), file)
  const { size } = statSync(file)
  return {
    value: { file, bytes: size, oldestRelease },
    text: `Copied the database to ${file} (${size} bytes). ${describeReaders(oldestRelease)}`,
  }
}

export async function runCopy(invocation: Invocation): Promise<Outcome> {
  const report = await copyDatabase({
    from: requiredText(invocation, 'from'),
    to: requiredText(invocation, 'to'),
    onProgress: progressPrinter(invocation.switches.has('json'), describeProgress),
  })
  return {
    value: report,
    text: describeReport(report),
    hint:
      'Later writes to the file are not in the copy: start the service with DATABASE_URL naming' +
      ' the new database, and put the file aside.',
  }
}

function describeProgress({ phase, table: name, rows, of }: CopyProgress): string {
  return `${phase} ${name}: ${grouped(rows)} of ${grouped(of)} rows`
}

function describeReport(report: CopyReport): string {
  const counts = Object.entries(report.tables).map(([name, { rows }]) => [name, grouped(rows)])
  const left =
    report.leftBehind.length === 0
      ? ''
      : `\nNot copied, because it is not Countersign’s: ${report.leftBehind.join(', ')}.`
  const sum = `Copied ${grouped(report.rows)} rows; counts and content match on both sides.`
  return `${table(['TABLE', 'ROWS'], counts)}\n${sum}${left}`
}

/** No account has a colon in its name, so the filter `createdBy=seed:*` finds exactly these orders. */
const people: People = {
  creators: ['seed:operator', 'seed:operator', 'seed:operator', 'seed:admin', 'seed:service'],
  approver: 'seed:admin',
}
const greatestCount = 100_000_000
const defaultDays = 365
/** Orders that one statement inserts, in one transaction. */
const batchRows = 1_000

/** Adds invented orders; to a database with real accounts only with --yes. */
export async function runSeed(invocation: Invocation): Promise<Outcome> {
  const count = wholeNumber(invocation, 'orders', greatestCount)
  const days = wholeNumber(invocation, 'days', 3_650, defaultDays)
  const startedAt = performance.now()
  const total = await withDatabase(invocation, async (db) => {
    if (!invocation.switches.has('yes')) await refuseInUse(db)
    const report = progressPrinter(
      invocation.switches.has('json'),
      (progress: { rows: number; of: number }) =>
        `${grouped(progress.rows)} of ${grouped(progress.of)} orders`,
    )
    let added = 0
    const wanted = { count, days, nowMilliseconds: systemClock(), people, batchRows }
    for (const made of makeOrders(wanted)) {
      await db.write('addOrders', made)
      // Otherwise the service would start with millions of events to seal.
      await db.write('sealEvents', { limit: made.events.length })
      added += made.orders.length
      report({ rows: added, of: count })
    }
    const counts = await countByStatus(db.read)
    return [...counts.values()].reduce((sum, ofStatus) => sum + ofStatus, 0)
  })
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10
  return {
    value: { added: count, total, seconds },
    text: `Added ${grouped(count)} orders in ${seconds} s; there are now ${grouped(total)}.`,
    hint: 'The filter createdBy=seed:* finds them; no account has such a name.',
  }
}

async function refuseInUse(db: AppDatabase): Promise<void> {
  if (!(await hasAccounts(db.read, false))) return
  throw new Refused(
    'database-in-use',
    'the database has accounts other than demo accounts, so invented orders would mix with real ones;' +
      ' nothing was added (--yes adds them anyway)',
  )
}

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
      const { era } = formerDatabase ? await headOfLog(formerDatabase).catch(() => ({ era: 0 })) : { era: 0 }
      const begun = await beginEra(restored, { atLeast: Math.max(given, era + 1), stamp })
      const known = formerDatabase ? await formerErasures(formerDatabase).catch(() => null) : []
      const erasedAgain = await eraseAgain(restored, known ?? [], commandStamp)
      const lacksAdministrator = erasedAgain > 0 && !(await hasAdministrator(restored))
      return { ...begun, erasedAgain, knowsErasures: known !== null, lacksAdministrator }
    },
    isRewritten: ({ erasedAgain }) => erasedAgain > 0,
  })
  const again = changed.erasedAgain
  const erased =
    again === 0
      ? ''
      : `\nRepeated ${again} ${again === 1 ? 'erasure' : 'erasures'} that the backup did not know.`
  const left = [
    ...(changed.lacksAdministrator
      ? ['\nNobody can manage accounts any more: add somebody by `user add --role Admin`.']
      : []),
    ...(changed.knowsErasures
      ? []
      : ['\nThe former database is damaged: which erasures it had is not known.']),
  ].join('')
  const kept = former === undefined ? '' : `\nThe former database is ${former}.`
  return {
    value: { file, former: former ?? null, ...changed },
    text: `Restored ${file} from ${backup}.\n${describeEra(changed)}${erased}${left}${kept}`,
    hint: 'Everything written after the backup is gone: see "Restore" in docs/operations.md.',
  }
}

/** After a database has gone back by other means than `restore`. */
export async function runLogRestored(invocation: Invocation): Promise<Outcome> {
  refuseMissingDatabase(databaseOf(invocation).databaseUrl)
  const input = { atLeast: eraOf(invocation), stamp: commandStamp() }
  const file = invocation.texts.export
  const erasures = file === undefined ? [] : await erasuresIn(file)
  const { begun, lost } = await withDatabase(invocation, async (db) => {
    const begun = await db.write('beginEra', input)
    return { begun, lost: await lostErasures(db.read, erasures) }
  })
  const program = `node ${relative('.', process.argv[1] ?? '')}`
  const lines = lost.map(({ command, note }) => `${program} ${command}${note ? `  # ${note}` : ''}`)
  const again =
    lost.length === 0 ? '' : `\nThe database lost erasures that the export has. Run:\n${lines.join('\n')}`
  return {
    value: file === undefined ? begun : { ...begun, lostErasures: lost.map(({ command }) => command) },
    text: `${describeEra(begun)}${again}`,
  }
}

function eraOf(invocation: Invocation): number {
  return wholeNumber(invocation, 'era', greatestEra, 1)
}

function describeEra({ era, last: { sequence } }: BegunEra): string {
  return `Era ${era} of the log begins after event ${sequence}, the last that is left.`
}
