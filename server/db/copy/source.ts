import Sqlite from 'better-sqlite3'
import { Kysely } from '#kysely'
import { DatabaseRefused, DatabaseUnavailable } from '../errors.ts'
import { migrateAll, requireMigrated } from '../migrate.ts'
import { sqliteDialect, translateErrors } from '../sqlite/driver.ts'
import { openWritable, requireFile } from '../sqlite/files.ts'
import { schema } from '../sqlite/schema.ts'
import { type Database, type Db, sqliteOwnTables, uncopiedTables } from '../tables.ts'
import { batchRows, type CopiedTable, quoted, selectInKeyOrder, type TextRow } from './table.ts'

/** Every copied table, parents before children. Read from the migrations, so none is forgotten. */
export async function describeTables(): Promise<CopiedTable[]> {
  const connection = new Sqlite(':memory:')
  try {
    await kysely(connection)
      .transaction()
      .execute((trx) => migrateAll(trx, schema))
    return parentsFirst(connection, tableNames(connection)).map((name) => {
      const table = describeTable(connection, name)
      return { ...table, initialRows: [...readBatches(connection, table)].flat() }
    })
  } finally {
    connection.close()
  }
}

/**
 * Locks a SQLite file until `close`. Nobody else can write to it, so the copy has everything ever
 * acknowledged. Readers continue; a service that runs on the file answers writes with 503.
 */
export class CopySource {
  readonly #connection: Sqlite.Database

  /** Throws `DatabaseRefused` if there is no such file, it is locked, or it belongs to another version. */
  static async lock(file: string): Promise<CopySource> {
    requireFile(file)
    let connection: Sqlite.Database | undefined
    try {
      const opened = translateErrors(() => openWritable(file))
      connection = opened
      translateErrors(() => opened.exec('begin immediate'))
      await requireMigrated(kysely(opened), schema)
      return new CopySource(opened)
    } catch (error) {
      connection?.close()
      if (!(error instanceof DatabaseUnavailable)) throw error
      throw new DatabaseRefused(`DATABASE_URL: ${file} cannot be locked: ${error.message}`, { cause: error })
    }
  }

  private constructor(connection: Sqlite.Database) {
    this.#connection = connection
  }

  count(table: CopiedTable): number {
    const statement = this.#connection.prepare(`select count(*) from ${quoted(table.name)}`)
    return translateErrors(() => statement.pluck().get() as number)
  }

  /** All rows in key order. Finish the generator, or return from it, before any other call. */
  batches(table: CopiedTable): Generator<TextRow[], void> {
    return readBatches(this.#connection, table)
  }

  /** The greatest id ever assigned, as text, even if its row is gone: ids are never reused. */
  greatestId(table: CopiedTable, column: string): string {
    const statement = this.#connection.prepare(
      `select cast(max(coalesce((select max(${quoted(column)}) from ${quoted(table.name)}), 0),
         coalesce((select seq from sqlite_sequence where name = ?), 0)) as text)`,
    )
    return translateErrors(() => statement.pluck().get(table.name) as string)
  }

  /** Tables and columns (`table.column`) of the file that this version does not know. */
  unknownParts(tables: CopiedTable[]): string[] {
    const known = new Map(tables.map((table) => [table.name, new Set(table.columns)]))
    return tableNames(this.#connection).flatMap((name) => {
      const columns = known.get(name)
      if (columns === undefined) return [name]
      return describeTable(this.#connection, name)
        .columns.filter((column) => !columns.has(column))
        .map((column) => `${name}.${column}`)
    })
  }

  close(): void {
    this.#connection.close()
  }
}

function kysely(connection: Sqlite.Database): Db {
  return new Kysely<Database>({ dialect: sqliteDialect(connection, 'begin') })
}

/** All tables except those that are never copied. */
function tableNames(connection: Sqlite.Database): string[] {
  const statement = connection.prepare(
    `select name from pragma_table_list where schema = 'main' and type = 'table' and name <> 'schema_migrations'
       and name not like 'sqlite\\_%' escape '\\' order by name`,
  )
  const names = translateErrors(() => statement.pluck().all() as string[])
  const made: readonly string[] = [...uncopiedTables, ...sqliteOwnTables]
  return names.filter((name) => !made.includes(name))
}

function describeTable(connection: Sqlite.Database, name: string): CopiedTable {
  const columns = connection.prepare<[string], { name: string; type: string; pk: number }>(
    'select name, type, pk from pragma_table_info(?) order by cid',
  )
  const rows = translateErrors(() => columns.all(name))
  const key = rows.filter((column) => column.pk > 0).sort((a, b) => a.pk - b.pk)
  return {
    name,
    columns: rows.map((column) => column.name),
    key: key.map((column) => column.name),
    hasBytes: rows.some(({ type }) => type.toLowerCase() === 'blob'),
    initialRows: [],
  }
}

/** Throws if tables refer to each other in a circle, because then no order of inserts would work. */
function parentsFirst(connection: Sqlite.Database, names: string[]): string[] {
  const parentsOf = connection
    .prepare<[string, string], string>('select "table" from pragma_foreign_key_list(?) where "table" <> ?')
    .pluck()
  const parents = new Map(names.map((name) => [name, parentsOf.all(name, name)]))
  const ordered = new Set<string>()
  while (ordered.size < names.length) {
    const next = names.filter(
      (name) => !ordered.has(name) && parents.get(name)?.every((parent) => ordered.has(parent)),
    )
    if (next.length === 0) throw new Error('foreign keys form a circle')
    for (const name of next) ordered.add(name)
  }
  return [...ordered]
}

function* readBatches(connection: Sqlite.Database, table: CopiedTable): Generator<TextRow[], void> {
  const statement = connection.prepare<[], TextRow>(
    selectInKeyOrder(table, table.hasBytes ? asText : undefined),
  )
  const rows = translateErrors(() => statement.iterate())
  try {
    for (let batch = nextBatch(rows, table); batch.length > 0; batch = nextBatch(rows, table)) yield batch
  } finally {
    rows.return?.()
  }
}

/** Bytes as PostgreSQL writes them. */
const asText = (column: string) => `case typeof(${column}) when 'blob' then '\\x' || lower(hex(${column}))
  else cast(${column} as text) end`

function nextBatch(rows: IterableIterator<TextRow>, table: CopiedTable): TextRow[] {
  const batch: TextRow[] = []
  for (let isOver = false; !isOver && batch.length < batchRows(table); ) {
    const next = translateErrors(() => rows.next())
    isOver = next.done === true
    if (!isOver) batch.push(next.value)
  }
  return batch
}
