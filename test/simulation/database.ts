import { sql, type Transaction } from '#kysely'
import { headOfLog } from '../../server/audit/audit.ts'
import { beginEra } from '../../server/audit/sealing/era.ts'
import { machineStamp } from '../../server/caller/stamp.ts'
import type { AppDatabase } from '../../server/db/port.ts'
import { restoreDatabase } from '../../server/db/restore.ts'
import type { Database } from '../../server/db/tables.ts'
import { openAppDatabase } from '../../server/operations.ts'
import {
  administer,
  copyTestDatabase,
  createTestDatabase,
  type TestDatabase,
  testEngine,
  withRawDatabase,
} from '../support/database.ts'
import { connectTo } from '../support/postgres.ts'

const isSqlite = testEngine === 'sqlite'
/** Commits of changes to these can be made to fail. */
const tables = ['unsealed_events', 'events', 'subscriptions', 'mails', 'log_witnesses', 'leases']

/** Commits fail while `simulated` is armed: by a broken reference on SQLite, by a conflict on PostgreSQL. */
async function addFaults(trx: Transaction<Database>): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(trx)
  await run('create table simulated (id integer primary key, armed integer)')
  await run('insert into simulated values (1, 0)')
  if (isSqlite) {
    await run(
      `create table simulated_broken (id integer references simulated (id) deferrable initially deferred)`,
    )
  } else {
    // A commit can also be late: it waits for the lock of its subject.
    await run(`create function simulated_commit() returns trigger language plpgsql as $$ begin
      if (select armed from simulated) = 1 then raise exception 'simulated' using errcode = '40001'; end if;
      if tg_table_name = 'unsealed_events' then
        perform pg_advisory_xact_lock_shared(hashtext(new.subject_id)); end if;
      return null; end $$`)
  }
  for (const table of tables) {
    for (const change of ['insert', 'update']) {
      const name = `simulated_${change}_${table}`
      await run(
        isSqlite
          ? `create trigger ${name} after ${change} on ${table} when (select armed from simulated) = 1
             begin insert into simulated_broken values (9); end`
          : `create constraint trigger ${name} after ${change} on ${table} deferrable initially deferred
             for each row execute function simulated_commit()`,
      )
    }
  }
}

let made = 0

/** A database that can be copied while nobody has it open, go back, and fail in its commits. */
export class SimulatedDatabase {
  readonly #place: TestDatabase
  #backup: TestDatabase | undefined
  port: AppDatabase
  /** Until when leases were moved, by the clock of the machine and by that of the simulation. */
  #leases: { at: number; now: number }

  private constructor(place: TestDatabase, port: AppDatabase, now: number) {
    this.#place = place
    this.port = port
    this.#leases = { at: performance.now(), now }
  }

  /** A new one, with what every simulation begins with. */
  static async prepare(fill: (port: AppDatabase) => Promise<void>): Promise<TestDatabase> {
    const place = await createTestDatabase()
    const port = await open(place)
    await fill(port)
    await port.close()
    await withRawDatabase(place.databaseUrl, addFaults)
    return place
  }

  static async copyOf(template: TestDatabase, now: number): Promise<SimulatedDatabase> {
    const place = await copyTestDatabase(template)
    return new SimulatedDatabase(place, await open(place), now)
  }

  raw<T>(work: (trx: Transaction<Database>) => Promise<T>): Promise<T> {
    return withRawDatabase(this.#place.databaseUrl, work)
  }

  async isIdle(): Promise<void> {
    // One connection answers all reads, in their order.
    await sql`select 1`.execute(this.port.read)
  }

  readonly commitFails = async (work: () => Promise<unknown>): Promise<unknown> => {
    const arm = (armed: number) =>
      this.raw((trx) => sql`update simulated set armed = ${sql.lit(armed)}`.execute(trx))
    await arm(1)
    try {
      return await work()
    } finally {
      await arm(0)
    }
  }

  /** Does the second while the commit of the first, which changes the subject, waits. On SQLite after it. */
  async late(subject: string, first: () => Promise<unknown>, second: () => Promise<unknown>): Promise<void> {
    if (isSqlite) {
      await first()
      await second()
      return
    }
    const holder = await connectTo(this.#place.databaseUrl)
    await holder.query('select pg_advisory_lock(hashtext($1))', [subject])
    const late = first()
    const waiting = `select 1 from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`
    let isDone = false
    late.finally(() => {
      isDone = true
    })
    while (!isDone && (await holder.query(waiting)).rowCount === 0);
    await second()
    await holder.end()
    await late
  }

  /** Leases end by the clock of the database, so they are moved along with that of the simulation. */
  async moveLeases(now: number): Promise<void> {
    const at = performance.now()
    const passed = now - this.#leases.now
    const shift = Math.round(at - this.#leases.at) - passed
    if (passed < 1_000 && shift < 500) return
    await this.raw((trx) =>
      sql`update leases set ends_at = ends_at + ${sql.lit(shift)} where ends_at > 0`.execute(trx),
    )
    // Not before: this change fails as well while commits do.
    this.#leases = { at, now }
  }

  async backUp(): Promise<void> {
    await this.#backup?.drop()
    await this.port.close()
    this.#backup = await copyTestDatabase(this.#place)
    this.port = await open(this.#place)
  }

  get hasBackup(): boolean {
    return this.#backup !== undefined
  }

  /** Goes back to the backup, and begins the next era. Returns how many lines are left. */
  async restore(now: number): Promise<number> {
    const backup = this.#backup as TestDatabase
    const stamp = machineStamp(now)
    const { era } = await headOfLog(this.port.read)
    await this.port.close()
    if (isSqlite) {
      const { changed } = await restoreDatabase({
        databaseUrl: this.#place.databaseUrl,
        backup: backup.file,
        formerName: (file) => `${file}.former-${++made}`,
        change: (restored) => beginEra(restored, { atLeast: era + 1, stamp }),
      })
      this.port = await open(this.#place)
      return changed.last.sequence
    }
    await replace(this.#place, backup)
    this.port = await open(this.#place)
    return (await this.port.write('beginEra', { atLeast: era + 1, stamp })).last.sequence
  }

  async close(): Promise<void> {
    await this.port.close()
    await this.#backup?.drop()
    await this.#place.drop()
  }
}

const nameIn = ({ databaseUrl }: TestDatabase) => new URL(databaseUrl).pathname.slice(1)
const onServer = (statement: string) => administer(process.env.TEST_DATABASE_URL ?? '', statement)
const drop = (name: string) => onServer(`drop database if exists ${name} with (force)`)

/** Patient, because a write that a busy machine abandons may be committed while a later step runs. */
const open = ({ databaseUrl }: TestDatabase) => openAppDatabase({ databaseUrl, isPatient: true })

async function replace(place: TestDatabase, backup: TestDatabase): Promise<void> {
  await drop(nameIn(place))
  await onServer(`create database ${nameIn(place)} template ${nameIn(backup)} strategy file_copy`)
}
