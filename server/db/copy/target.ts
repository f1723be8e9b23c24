import { isDeepStrictEqual } from 'node:util'
import { Kysely } from 'kysely'
import pg from 'pg'
import { DatabaseRefused, DatabaseUnavailable } from '../errors.ts'
import { pendingMigrations } from '../migrate.ts'
import { postgresDialect, translatePostgresError } from '../postgres/driver.ts'
import { schema } from '../postgres/schema.ts'
import type { Database } from '../tables.ts'
import { batchRows, type CopiedTable, quoted, type TextRow } from './table.ts'

const connectTimeoutMilliseconds = 10_000
const lockTimeoutMilliseconds = 5_000

/**
 * A PostgreSQL database that is filled in one transaction: until `commit` nobody sees a row, and without it nothing
 * stays. From `begin` on nobody else can write to its tables. Every failure is a `DatabaseRefused` whose message holds
 * neither the address nor a value of a row.
 */
export class CopyTarget {
  readonly #client: pg.Client

  /** Resolves with a target that is migrated and holds nothing of its own; one that is refused is left as it was. */
  static async open(
    url: string,
    tables: CopiedTable[],
    migrate: () => Promise<unknown>,
  ): Promise<CopyTarget> {
    const client = newClient(url)
    // The loss of the connection is reported by the query that runs into it.
    client.on('error', () => undefined)
    const target = new CopyTarget(client)
    try {
      await client.connect()
      await target.#refuseBeforeMigration(tables)
      await migrate()
      return target
    } catch (error) {
      await target.close()
      throw explain(error)
    }
  }

  private constructor(client: pg.Client) {
    this.#client = client
  }

  /** Begins the transaction, shuts other writers out, and takes away what the migrations put in. */
  async begin(tables: CopiedTable[]): Promise<void> {
    await this.#run('begin isolation level read committed')
    await this.#run(
      `select set_config(name, '0', true) from pg_settings where name in
         ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`,
    )
    await this.#run(`set local lock_timeout = ${lockTimeoutMilliseconds}`)
    await this.#run(`lock table ${tables.map((table) => quoted(table.name)).join(', ')} in exclusive mode`)
    await this.#run('set local lock_timeout = 0')
    for (const table of tables) await this.#refuseOwnRows(table)
    for (const table of tables.toReversed()) {
      if (table.initialRows.length > 0) await this.#run(`delete from ${quoted(table.name)}`)
    }
  }

  /** A function that inserts a batch of the table's rows: one statement, one array for each column. */
  async prepareInsert(table: CopiedTable): Promise<(rows: TextRow[]) => Promise<void>> {
    const types = await this.#columnTypes(table)
    const arrays = types.map((type, index) => `$${index + 1}::${type}[]`).join(', ')
    const columns = table.columns.map(quoted).join(', ')
    const text = `insert into ${quoted(table.name)} (${columns}) select * from unnest(${arrays})`
    return async (rows) => {
      const values = table.columns.map((_, index) => rows.map((row) => row[index]))
      try {
        await this.#client.query(text, values)
      } catch (error) {
        throw explain(error, table.name)
      }
    }
  }

  /** Throws unless the tally that the target's triggers have made is that of its orders. */
  async verifyTally(): Promise<void> {
    const differences = await this.#run(tallyDifferences)
    if (differences.length === 0) return
    throw new DatabaseRefused(
      'DATABASE_URL: the target has not counted the orders that arrived: are its triggers switched off? Nothing was kept',
    )
  }

  /** The columns to which the server gives ids. */
  async identityColumns(table: CopiedTable): Promise<string[]> {
    const rows = await this.#run(
      `select attname from pg_attribute where attrelid = $1::regclass and attidentity <> '' and not attisdropped`,
      [quoted(table.name)],
    )
    return rows.map(([name]) => name ?? '')
  }

  /** The next id will be the one after `greatest`. Unlike `setval` this is undone with the transaction. */
  async restartIdentity(table: CopiedTable, column: string, greatest: string): Promise<void> {
    const next = BigInt(greatest) + 1n
    await this.#run(`alter table ${quoted(table.name)} alter column ${quoted(column)} restart with ${next}`)
  }

  /** So that the service's first queries are planned for the rows that there are. */
  async analyze(table: CopiedTable): Promise<void> {
    await this.#run(`analyze ${quoted(table.name)}`)
  }

  /** All rows in key order, read back from the server through a cursor; the next batch is on its way meanwhile. */
  async *batches(table: CopiedTable): AsyncGenerator<TextRow[], void> {
    await this.#run(`declare copied no scroll cursor for ${selectInKeyOrder(table)}`)
    const fetch = () => this.#run(`fetch ${batchRows} from copied`)
    let next = fetch()
    for (let rows = await next; rows.length > 0; rows = await next) {
      next = fetch()
      // It is awaited in the next round; nobody may be there to hear it when the consumer stops before.
      next.catch(() => undefined)
      yield rows
    }
    await this.#run('close copied')
  }

  async commit(): Promise<void> {
    try {
      await this.#client.query('commit')
    } catch (error) {
      if (error instanceof pg.DatabaseError) throw explain(error)
      throw new DatabaseRefused(
        'DATABASE_URL: the connection was lost during the commit; the target now holds everything or nothing:' +
          ' run the command again, and if it refuses the target as not empty, the copy was made',
        { cause: error },
      )
    }
  }

  /** Without a `commit` before it, the server undoes everything. */
  async close(): Promise<void> {
    await this.#client.end().catch(() => undefined)
  }

  /** A database in use must not be migrated by a mistake: nothing has been changed when this throws. */
  async #refuseBeforeMigration(tables: CopiedTable[]): Promise<void> {
    const source = { acquire: async () => this.#client, release: () => undefined }
    const dialect = postgresDialect(source, { names: undefined })
    await pendingMigrations(new Kysely<Database>({ dialect }), schema)
    const present = await this.#run('select tablename from pg_tables where schemaname = current_schema()')
    const names = new Set(present.map(([name]) => name))
    for (const table of tables.filter(({ name }) => names.has(name))) {
      const { length } = table.initialRows
      const surplus = await this.#run(`select 1 from ${quoted(table.name)} offset ${length} limit 1`)
      if (surplus.length > 0) throw notEmpty(table)
    }
  }

  async #refuseOwnRows(table: CopiedTable): Promise<void> {
    const rows = await this.#run(`${selectInKeyOrder(table)} limit ${table.initialRows.length + 1}`)
    if (!isDeepStrictEqual(rows, table.initialRows)) throw notEmpty(table)
  }

  async #columnTypes(table: CopiedTable): Promise<string[]> {
    const rows = await this.#run(
      `select attname, format_type(atttypid, null) from pg_attribute
         where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
      [quoted(table.name)],
    )
    const types = new Map(rows.map(([name, type]) => [name, type]))
    return table.columns.map((column) => {
      const type = types.get(column)
      if (typeof type === 'string') return type
      throw new DatabaseRefused(`DATABASE_URL: the target's table ${table.name} has no column ${column}`)
    })
  }

  async #run(text: string, values: string[] = []): Promise<TextRow[]> {
    try {
      return (await this.#client.query<TextRow>({ text, values, rowMode: 'array' })).rows
    } catch (error) {
      throw explain(error)
    }
  }
}

/** A row for each day and status of which the tally, with the changes not merged yet, says something else than the orders do. */
const tallyDifferences = `
  with kept as (
    select day, status, sum(orders), sum(total_units), sum(total_parts_e4)
    from (
      select day, status, orders, total_units, total_parts_e4 from order_tally
      union all
      select -1, status, orders, total_units, total_parts_e4 from order_tally_changes
      union all
      select day, status, orders, total_units, total_parts_e4 from order_tally_changes where day >= 0
    ) as tally
    group by day, status
    having sum(orders) <> 0 or sum(total_units) <> 0 or sum(total_parts_e4) <> 0
  ),
  counted as (
    select day, status, count(*), sum(total_e4 / 10000), sum(total_e4 % 10000)
    from orders, lateral (values (-1), (created_at / 86400000)) as days (day)
    group by day, status
  )
  (table kept except table counted) union all (table counted except table kept) limit 1`

/** The driver reads the certificates that the address names. */
function newClient(url: string): pg.Client {
  try {
    return new pg.Client({
      connectionString: url,
      application_name: 'countersign copy',
      connectionTimeoutMillis: connectTimeoutMilliseconds,
      keepAlive: true,
    })
  } catch (error) {
    throw new DatabaseRefused('DATABASE_URL: the address names a file or a setting that cannot be used', {
      cause: error,
    })
  }
}

function selectInKeyOrder(table: CopiedTable): string {
  const columns = table.columns.map((column) => `${quoted(column)}::text`).join(', ')
  // Without the table's name `order by` would mean the output column, which is text also where the key is a number.
  const key = table.key.map((column) => `${quoted(table.name)}.${quoted(column)}`).join(', ')
  return `select ${columns} from ${quoted(table.name)} order by ${key}`
}

function notEmpty(table: CopiedTable): DatabaseRefused {
  return new DatabaseRefused(
    `DATABASE_URL: the target is not empty: its table ${table.name} holds rows of its own; nothing was changed`,
  )
}

/** Codes, and classes of codes, that the operator can mend. https://www.postgresql.org/docs/18/errcodes-appendix.html */
const explanations: [code: string, reason: string][] = [
  ['28P01', 'the password was not accepted'],
  ['28', 'the role was not accepted'],
  ['3D000', 'there is no such database'],
  ['42501', 'the role may not create and fill tables there; use the owner of the database'],
  ['42P07', 'the target holds tables or views of another program with the names of this one'],
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
  return new DatabaseRefused(`DATABASE_URL: PostgreSQL answered ${code}${place}`, { cause: error })
}
