import { type CompiledQuery, type QueryResult, type RawBuilder, sql } from '#kysely'
import { execute, ofEngine } from './engine.ts'
import type { Db } from './tables.ts'

/** A query of Kysely's builder, or one written with its `sql`. */
interface Buildable<Row> {
  compile(db: Db): CompiledQuery<Row>
}

interface Compiled<Row> {
  query: CompiledQuery<Row>
  /** For each bound value, the name that it belongs to; undefined for a constant of the query. */
  names: (PropertyKey | undefined)[]
}

/**
 * A statement that is built and compiled once for each engine and then only bound: building it costs as much
 * as running it. `build` gets placeholders instead of values, so it may only bind them.
 */
export function prepared<Values extends object, Row>(
  build: (db: Db, values: Values) => Buildable<Row>,
): (db: Db, values: Values) => Promise<QueryResult<Row>> {
  const ofEngines: Record<'sqlite' | 'postgres', { made?: Compiled<Row> }> = { sqlite: {}, postgres: {} }
  return (db, values) => {
    const kept = ofEngine(db, ofEngines)
    kept.made ??= compile(db, build)
    const { query, names } = kept.made
    const parameters = query.parameters.map((constant, position) => {
      const name = names[position]
      return name === undefined ? constant : (values as Record<PropertyKey, unknown>)[name]
    })
    return execute(db, { ...query, parameters })
  }
}

/** Like `prepared`, with a statement for each shape: `build` may branch on it, and it takes few values. */
export function preparedFor<Shape extends object, Values extends object, Row>(
  build: (db: Db, shape: Shape, values: Values) => Buildable<Row>,
): (db: Db, shape: Shape, values: Values) => Promise<QueryResult<Row>> {
  const statements = new Map<string, ReturnType<typeof prepared<Values, Row>>>()
  return (db, shape, values) => {
    const key = JSON.stringify(shape)
    const statement = statements.get(key) ?? prepared((of, bound: Values) => build(of, shape, bound))
    statements.set(key, statement)
    return statement(db, values)
  }
}

function compile<Values extends object, Row>(
  db: Db,
  build: (db: Db, values: Values) => Buildable<Row>,
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
 * Hides a bound value from the planner. SQLite plans a statement again, at several times the cost of a small
 * read, if a new value is bound where its planner has looked at one: in a join or with an ORDER BY, that is
 * nearly everywhere. Write constants of such a query into its text with `sql.lit`, because they are bound
 * each time as well.
 */
export function unseen<Value>(value: Value): RawBuilder<Value> {
  return sql<Value>`(select ${value})`
}

/** The same for a whole number, which PostgreSQL must be able to recognize as one. */
export function unseenNumber(value: number): RawBuilder<number> {
  return sql<number>`(select cast(${value} as bigint))`
}
