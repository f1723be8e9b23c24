import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely'
import { ofEngine } from './engine.ts'
import type { Database } from './tables.ts'

/** A query of Kysely's builder, or one written with its `sql`. */
interface Buildable<Row> {
  compile(db: Kysely<Database>): CompiledQuery<Row>
}

/**
 * A query that is built and compiled once for each engine and then only bound: building it anew costs as much as running
 * it. `build` sees placeholders in place of the arguments, so it must do nothing with them but bind them.
 */
export function prepared<Args extends readonly unknown[], Row>(
  build: (db: Kysely<Database>, ...args: Args) => Buildable<Row>,
): (db: Kysely<Database>, ...args: Args) => Promise<Row[]> {
  const bind = once((db, placeholder) => {
    const placeholders = Array.from({ length: build.length - 1 }, (_, index) => placeholder(index))
    return build(db, ...(placeholders as unknown as Args))
  })
  return async (db, ...args) => (await db.executeQuery(bind(db, args))).rows
}

/** The same of a statement that returns no rows, with named values. Resolves with how many rows it wrote. */
export function preparedWrite<Values extends object>(
  build: (db: Kysely<Database>, values: Values) => Buildable<unknown>,
): (db: Kysely<Database>, values: Values) => Promise<number> {
  const bind = once((db, placeholder) =>
    build(db, new Proxy({} as Values, { get: (_, name) => placeholder(name) })),
  )
  return async (db, values) => Number((await db.executeQuery(bind(db, values))).numAffectedRows ?? 0)
}

interface Prepared<Row> {
  query: CompiledQuery<Row>
  /** For each bound value, the name of the argument it stands for; others are constants of the query. */
  argumentOf: (PropertyKey | undefined)[]
}

function once<Row>(
  build: (db: Kysely<Database>, placeholder: (name: PropertyKey) => object) => Buildable<Row>,
): (db: Kysely<Database>, values: object) => CompiledQuery<Row> {
  const ofEngines: { sqlite: { made?: Prepared<Row> }; postgres: { made?: Prepared<Row> } } = {
    sqlite: {},
    postgres: {},
  }
  return (db, values) => {
    const kept = ofEngine(db, ofEngines)
    kept.made ??= prepare(db, build)
    const { query, argumentOf } = kept.made
    const parameters = argumentOf.map((name, position) =>
      name === undefined ? query.parameters[position] : (values as Record<PropertyKey, unknown>)[name],
    )
    return { ...query, parameters }
  }
}

function prepare<Row>(
  db: Kysely<Database>,
  build: (db: Kysely<Database>, placeholder: (name: PropertyKey) => object) => Buildable<Row>,
): Prepared<Row> {
  const names = new Map<unknown, PropertyKey>()
  const placeholder = (name: PropertyKey) => {
    const stand = {}
    names.set(stand, name)
    return stand
  }
  const query = build(db, placeholder).compile(db)
  return { query, argumentOf: query.parameters.map((value) => names.get(value)) }
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
