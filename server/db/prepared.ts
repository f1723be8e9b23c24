import { type CompiledQuery, type Kysely, type QueryResult, type RawBuilder, sql } from '#kysely'
import { ofEngine } from './engine.ts'
import type { Database } from './tables.ts'

/** A query of Kysely's builder, or one written with its `sql`. */
interface Buildable<Row> {
  compile(db: Kysely<Database>): CompiledQuery<Row>
}

interface Compiled<Row> {
  query: CompiledQuery<Row>
  /** For each bound value, the name of the one that it stands for; others are constants of the query. */
  names: (PropertyKey | undefined)[]
}

/**
 * A statement that is built and compiled once for each engine and then only bound: building it anew costs as much as
 * running it. `build` sees placeholders in place of the values, so it must do nothing with them but bind them.
 */
export function prepared<Values extends object, Row>(
  build: (db: Kysely<Database>, values: Values) => Buildable<Row>,
): (db: Kysely<Database>, values: Values) => Promise<QueryResult<Row>> {
  const ofEngines: Record<'sqlite' | 'postgres', { made?: Compiled<Row> }> = { sqlite: {}, postgres: {} }
  return (db, values) => {
    const kept = ofEngine(db, ofEngines)
    kept.made ??= compile(db, build)
    const { query, names } = kept.made
    const parameters = query.parameters.map((constant, position) => {
      const name = names[position]
      return name === undefined ? constant : (values as Record<PropertyKey, unknown>)[name]
    })
    return db.executeQuery({ ...query, parameters })
  }
}

function compile<Values extends object, Row>(
  db: Kysely<Database>,
  build: (db: Kysely<Database>, values: Values) => Buildable<Row>,
): Compiled<Row> {
  const nameOf = new Map<unknown, PropertyKey>()
  const placeholders = new Proxy({} as Values, {
    get(_, name) {
      const placeholder = {}
      nameOf.set(placeholder, name)
      return placeholder
    },
  })
  const query = build(db, placeholders).compile(db)
  return { query, names: query.parameters.map((value) => nameOf.get(value)) }
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
