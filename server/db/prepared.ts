import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely'
import type { Database } from './tables.ts'

interface Prepared<Row> {
  query: CompiledQuery<Row>
  /** For each bound value, the name of the argument it stands for; others are constants of the query. */
  argumentOf: (PropertyKey | undefined)[]
}

/** Runs SQL that returns rows with its bound values and nothing in between. */
export type DirectReader = (sql: string, parameters: readonly unknown[]) => Promise<unknown[]>

interface DirectStatements {
  read: DirectReader
  /** Of SQL that returns none; resolves with how many rows it wrote. */
  write?: (sql: string, parameters: readonly unknown[]) => Promise<number>
}

const directStatements = new WeakMap<object, DirectStatements>()

/** Lets prepared queries of `db` go straight to its driver: Kysely's own way there costs as much as a small query. */
export function readDirectly(db: Kysely<Database>, read: DirectReader): void {
  directStatements.set(db, { read })
}

/** The same for prepared statements of all its transactions, where they have one connection. */
export function runDirectly(db: Kysely<Database>, statements: Required<DirectStatements>): void {
  directStatements.set(db.getExecutor().adapter, statements)
}

/** A query of Kysely's builder, or one written with its `sql`. */
interface Buildable<Row> {
  compile(db: Kysely<Database>): CompiledQuery<Row>
}

/**
 * A query that is built and compiled once for a database and then only bound: building it anew costs more than
 * running it. `build` sees placeholders in place of the arguments, so it must do nothing with them but bind them.
 */
export function prepared<Args extends readonly unknown[], Row>(
  build: (db: Kysely<Database>, ...args: Args) => Buildable<Row>,
): (db: Kysely<Database>, ...args: Args) => Promise<Row[]> {
  const prepare = once((db, placeholder) => {
    const placeholders = Array.from({ length: build.length - 1 }, (_, index) => placeholder(index))
    return build(db, ...(placeholders as unknown as Args))
  })
  return async (db, ...args) => {
    const query = bound(prepare(db), args)
    const direct = directOf(db)
    if (direct !== undefined) return (await direct.read(query.sql, query.parameters)) as Row[]
    return (await db.executeQuery<Row>(query)).rows
  }
}

/** The same of a statement that returns no rows, with named values. Resolves with how many rows it wrote. */
export function preparedWrite<Values extends object>(
  build: (db: Kysely<Database>, values: Values) => Buildable<unknown>,
): (db: Kysely<Database>, values: Values) => Promise<number> {
  const prepare = once((db, placeholder) =>
    build(db, new Proxy({} as Values, { get: (_, name) => placeholder(name) })),
  )
  return async (db, values) => {
    const query = bound(prepare(db), values)
    const direct = directOf(db)
    if (direct?.write !== undefined) return direct.write(query.sql, query.parameters)
    return Number((await db.executeQuery(query)).numAffectedRows ?? 0)
  }
}

function directOf(db: Kysely<Database>): DirectStatements | undefined {
  return directStatements.get(db) ?? directStatements.get(db.getExecutor().adapter)
}

/** Once for each adapter, which a database shares with its transactions: the two engines write their SQL differently. */
function once<Row>(
  build: (db: Kysely<Database>, placeholder: (name: PropertyKey) => object) => Buildable<Row>,
): (db: Kysely<Database>) => Prepared<Row> {
  const byAdapter = new WeakMap<object, Prepared<Row>>()
  return (db) => {
    const { adapter } = db.getExecutor()
    const known = byAdapter.get(adapter)
    if (known !== undefined) return known
    const names = new Map<unknown, PropertyKey>()
    const placeholder = (name: PropertyKey) => {
      const stand = {}
      names.set(stand, name)
      return stand
    }
    const query = build(db, placeholder).compile(db)
    const made = { query, argumentOf: query.parameters.map((value) => names.get(value)) }
    byAdapter.set(adapter, made)
    return made
  }
}

function bound<Row>({ query, argumentOf }: Prepared<Row>, values: object): CompiledQuery<Row> {
  const parameters = argumentOf.map((name, position) =>
    name === undefined ? query.parameters[position] : (values as Record<PropertyKey, unknown>)[name],
  )
  return { ...query, parameters }
}

/**
 * A bound value that the planner does not look at. SQLite plans a statement anew, at several times the cost of a small
 * read, whenever a value is bound that its planner has looked at: in a join, or beside an ORDER BY, it looks at nearly
 * all. Constants of such a query stand in its text, by `sql.lit`, for they are bound each time as well.
 */
export function unseen<Value>(value: Value): RawBuilder<Value> {
  return sql<Value>`(select ${value})`
}

/** The same of a whole number, of which PostgreSQL wants to be told that it is one. */
export function unseenNumber(value: number): RawBuilder<number> {
  return sql<number>`(select cast(${value} as bigint))`
}
