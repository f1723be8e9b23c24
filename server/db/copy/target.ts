import { isDeepStrictEqual } from 'node:util'
import pg from 'pg'
import { Kysely, sql } from '#kysely'
import { DatabaseRefused, DatabaseUnavailable, isConnectionLoss } from '../errors.ts'
import { onlySource } from '../postgres/connections.ts'
import { postgresDialect, translatePostgresError } from '../postgres/driver.ts'
import { connect, migrateUnderLock } from '../postgres/migrate.ts'
import { type Database, type Trx, tallySpanRows, tallySpans } from '../tables.ts'
import { batchRows, type CopiedTable, quoted, selectInKeyOrder, type TextRow } from './table.ts'

/** Long, because a command, unlike a service, is not tried again. */
const connectTimeoutMilliseconds = 10_000
const lockTimeoutMilliseconds = 5_000

/**
 * Does the work in one transaction of a PostgreSQL database: nobody sees any of it before the commit, and
 * without a commit nothing remains. Every failure is a `DatabaseRefused` whose message has neither the
 * address nor a value of a row.
 */
export async function inTarget<Output>(
  url: string,
  work: (target: CopyTarget) => Promise<Output>,
): Promise<Output> {
  let isCommitting = false
  try {
    const client = await connect(url, 'countersign copy', connectTimeoutMilliseconds)
    try {
      const db = new Kysely<Database>({ dialect: postgresDialect(onlySource(client), { names: undefined }) })
      const transaction = db.transaction().setIsolationLevel('read committed')
      return await transaction.execute(async (trx) => {
        const output = await work(new CopyTarget(trx))
        isCommitting = true
        return output
      })
    } finally {
      await client.leave().catch(() => undefined)
    }
  } catch (error) {
    if (!isCommitting || !isConnectionLoss(error)) throw explain(error)
    throw new DatabaseRefused(
      'DATABASE_URL: the connection was lost during the commit; the target now holds everything or nothing:' +
        ' run the command again, and if it refuses the target as not empty, the copy was made',
      { cause: error },
    )
  }
}

/** After `takeOver` nobody else can write to its tables. */
export class CopyTarget {
  readonly #trx: Trx

  constructor(trx: Trx) {
    this.#trx = trx
  }

  /**
   * Migrates, shuts out other writers, and deletes what the migrations inserted. Refuses a target with other
   * rows.
   */
  async takeOver(tables: CopiedTable[]): Promise<void> {
    await migrateUnderLock(this.#trx)
    await this.#run('set local bytea_output = hex')
    await this.#run(`set local lock_timeout = ${lockTimeoutMilliseconds}`)
    await this.#run(`lock table ${tables.map((table) => quoted(table.name)).join(', ')} in exclusive mode`)
    await this.#run('set local lock_timeout = 0')
    for (const table of tables) {
      const rows = await this.#run(`${selectInKeyOrder(table)} limit ${table.initialRows.length + 1}`)
      if (!isDeepStrictEqual(rows, table.initialRows)) throw notEmpty(table)
    }
    for (const table of tables.toReversed()) {
      if (table.initialRows.length > 0) await this.#run(`delete from ${quoted(table.name)}`)
    }
  }

  /** Inserts the rows in one statement, with the types of the table. */
  async insert(table: CopiedTable, rows: TextRow[]): Promise<void> {
    const columns = sql.raw(table.columns.map(quoted).join(', '))
    const name = sql.raw(quoted(table.name))
    const statement = sql`insert into ${name} (${columns})
      select ${columns} from json_populate_recordset(null::${name}, ${JSON.stringify(rows)})`
    await statement.execute(this.#trx).catch((error: unknown) => {
      throw explain(error, table.name)
    })
  }

  /** Throws unless the tally that the target's triggers made agrees with its orders. */
  async verifyTally(): Promise<void> {
    const differences = await this.#run(tallyDifferences)
    if (differences.length === 0) return
    throw new DatabaseRefused(
      'DATABASE_URL: the target has not counted the orders that arrived: are its triggers switched off? Nothing was kept',
    )
  }

  /** The columns whose ids the server assigns. */
  async identityColumns(table: CopiedTable): Promise<string[]> {
    const { rows } = await sql<{ attname: string }>`select attname from pg_attribute
      where attrelid = ${quoted(table.name)}::regclass and attidentity <> '' and not attisdropped`.execute(
      this.#trx,
    )
    return rows.map(({ attname }) => attname)
  }

  /** The next id will follow `greatest`. Unlike `setval`, this is undone with the transaction. */
  async restartIdentity(table: CopiedTable, column: string, greatest: string): Promise<void> {
    const next = BigInt(greatest) + 1n
    await this.#run(`alter table ${quoted(table.name)} alter column ${quoted(column)} restart with ${next}`)
  }

  /** Collects statistics, so that the service's first queries are planned for the rows there are. */
  async analyze(table: CopiedTable): Promise<void> {
    await this.#run(`analyze ${quoted(table.name)}`)
  }

  /** All rows in key order, read back from the server through a cursor. */
  async *batches(table: CopiedTable): AsyncGenerator<TextRow[], void> {
    await this.#run(`declare copied no scroll cursor for ${selectInKeyOrder(table)}`)
    const fetch = () => this.#run(`fetch ${batchRows(table)} from copied`)
    for (let rows = await fetch(); rows.length > 0; rows = await fetch()) yield rows
    await this.#run('close copied')
  }

  async #run(text: string): Promise<TextRow[]> {
    return (await sql.raw<TextRow>(text).execute(this.#trx)).rows
  }
}

/**
 * A row for each part of time and status where the tally, with the changes not merged yet, differs from the
 * orders.
 */
const tallyDifferences = `
  with kept as (
    select span, part, status, sum(orders), sum(total_units), sum(total_parts_e4)
    from (
      select span, part, status, orders, total_units, total_parts_e4 from order_tally
      union all
      select span, quarter * ${tallySpans.quarter} / span, status, orders, total_units, total_parts_e4
      from order_tally_changes, (${tallySpanRows}) as spans
    ) as tally
    group by span, part, status
    having sum(orders) <> 0 or sum(total_units) <> 0 or sum(total_parts_e4) <> 0
  ),
  counted as (
    select span, created_at / span as part, status, count(*), sum(total_e4 / 10000), sum(total_e4 % 10000)
    from orders, (${tallySpanRows}) as spans
    group by span, part, status
  )
  (table kept except table counted) union all (table counted except table kept) limit 1`

function notEmpty(table: CopiedTable): DatabaseRefused {
  return new DatabaseRefused(
    `DATABASE_URL: the target is not empty: its table ${table.name} already holds rows; nothing was changed`,
  )
}

/**
 * Codes, and classes of codes, of faults that the operator can fix.
 * https://www.postgresql.org/docs/18/errcodes-appendix.html
 */
const explanations: [code: string, reason: string][] = [
  ['42501', 'the role may not create and fill tables there; use the owner of the database'],
  ['55P03', 'another program holds a lock on the target’s tables'],
  ['22', 'PostgreSQL cannot hold a value of the source'],
  ['23', 'a row of the source breaks a rule of the schema'],
]

function explain(error: unknown, table?: string): unknown {
  if (error instanceof DatabaseRefused) return error
  const place = table === undefined ? '' : `, in the table ${table}`
  const { cause } = error instanceof Error ? error : { cause: undefined }
  const code = [error, cause].find((one) => one instanceof pg.DatabaseError)?.code ?? ''
  const reason = explanations.find(([start]) => code.startsWith(start))?.[1]
  if (reason !== undefined) {
    return new DatabaseRefused(`DATABASE_URL: ${reason}${place} (${code})`, { cause: error })
  }
  const translated = translatePostgresError(error)
  if (translated instanceof DatabaseUnavailable) {
    return new DatabaseRefused(`DATABASE_URL: PostgreSQL cannot be used${place}: ${translated.message}`, {
      cause: error,
    })
  }
  if (code === '') return error
  const { message } = error as Error
  return new DatabaseRefused(`DATABASE_URL: PostgreSQL answered ${code}${place}: ${message}`, {
    cause: error,
  })
}
