import {
  type CompiledQuery,
  type DatabaseConnection,
  type QueryResult,
  type RawBuilder,
  type SqlBool,
  SqliteAdapter,
  sql,
} from '#kysely'
import type { Db, Trx } from './tables.ts'

/**
 * Picks, from two modules with the same functions, the one that speaks the SQL of this connection's engine.
 */
export function ofEngine<Module>(db: Db, { sqlite, postgres }: { sqlite: Module; postgres: Module }): Module {
  return db.getExecutor().adapter instanceof SqliteAdapter ? sqlite : postgres
}

/** SQLite's adapter, with the one connection of its database. */
export class AdapterOfConnection extends SqliteAdapter {
  readonly connection: DatabaseConnection

  constructor(connection: DatabaseConnection) {
    super()
    this.connection = connection
  }
}

/**
 * Runs a compiled statement. SQLite's connection is always free, so there the statement does without Kysely's
 * wait for it, which takes a sixteenth of the writer's time for an approval. Await it before the transaction
 * ends: nothing else notices a late one.
 */
export function execute<Row>(db: Db, query: CompiledQuery<Row>): Promise<QueryResult<Row>> {
  const { adapter, plugins } = db.getExecutor()
  const isDirect = adapter instanceof AdapterOfConnection && plugins.length === 0
  return isDirect ? adapter.connection.executeQuery<Row>(query) : db.executeQuery(query)
}

/**
 * Ends a select in a write: the rows of its `from` stay as they are until the transaction ends. SQLite has
 * one writer, so there they always do. With `key` other columns may change, but no row is deleted. With `own`
 * only this transaction may change them.
 */
export function keptUntilCommit(trx: Db, what: keyof typeof rowLocks = 'row'): RawBuilder<unknown> {
  return ofEngine(trx, { sqlite: sql``, postgres: rowLocks[what] })
}

const rowLocks = { row: sql`for share`, key: sql`for key share`, own: sql`for no key update` }

/**
 * Whether the column is as the statement saw it at its beginning. On PostgreSQL, a statement that waited for
 * a locked row (`keptUntilCommit`) goes on with its newest version, but with all other rows as they were.
 */
export function asSeen(trx: Db, table: string, column: string): RawBuilder<SqlBool> {
  const [rows, value] = [sql.table(table), sql.ref(`${table}.${column}`)]
  return ofEngine(trx, {
    sqlite: sql<SqlBool>`true`,
    postgres: sql<SqlBool>`${value} = (select ${sql.ref(`seen.${column}`)} from ${rows} as seen
      where seen.id = ${sql.ref(`${table}.id`)})`,
  })
}

/** Waits for the writes to the table that are running, and holds back the next until the transaction ends. */
export async function awaitWriters(trx: Trx, table: string): Promise<void> {
  await ofEngine(trx, { sqlite: null, postgres: sql`lock table ${sql.table(table)} in share mode` })?.execute(
    trx,
  )
}

/** Texts as a table with the column `value`, so that a join finds each of them by an index. */
export function rowsOf(db: Db, texts: readonly string[]): RawBuilder<unknown> {
  return ofEngine(db, {
    sqlite: sql`json_each(${JSON.stringify(texts)})`,
    postgres: sql`unnest(${texts}::text[]) as given (value)`,
  })
}

/**
 * The condition of a named read that may look at many rows: it ends the read when its time is up
 * (sqlite/reads.ts; on PostgreSQL the statement timeout does). A call costs more than a row, so only one row
 * in 256 makes one.
 */
export function withinTime(db: Db, rowNumber: string): RawBuilder<SqlBool> {
  return ofEngine(db, {
    sqlite: sql<SqlBool>`(${sql.ref(rowNumber)} & 255 <> 0 or within_time() = 1)`,
    postgres: sql<SqlBool>`true`,
  })
}
