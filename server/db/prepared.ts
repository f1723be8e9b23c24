import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely'
import type { Database } from './tables.ts'

interface Prepared<Row> {
  query: CompiledQuery<Row>
  /** For each bound value, the argument it stands for; others are constants of the query. */
  argumentOf: (number | undefined)[]
}

/** Runs SQL with its bound values and nothing in between. */
export type DirectReader = (sql: string, parameters: readonly unknown[]) => Promise<unknown[]>

const directReaders = new WeakMap<object, DirectReader>()

/** Lets prepared queries of `db` go straight to its driver: Kysely's own way there costs as much as a small query. */
export function readDirectly(db: Kysely<Database>, reader: DirectReader): void {
  directReaders.set(db, reader)
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
  /** By adapter, which a database shares with its transactions: the two engines write their SQL differently. */
  const byAdapter = new WeakMap<object, Prepared<Row>>()
  return async (db, ...args) => {
    const { adapter } = db.getExecutor()
    let known = byAdapter.get(adapter)
    if (known === undefined) {
      const placeholders = args.map(() => ({}))
      const query = build(db, ...(placeholders as unknown as Args)).compile(db)
      const argumentOf = query.parameters.map((value) => {
        const index = placeholders.indexOf(value as object)
        return index < 0 ? undefined : index
      })
      known = { query, argumentOf }
      byAdapter.set(adapter, known)
    }
    const { query, argumentOf } = known
    const parameters = argumentOf.map((index, position) =>
      index === undefined ? query.parameters[position] : args[index],
    )
    const direct = directReaders.get(db)
    if (direct !== undefined) return (await direct(query.sql, parameters)) as Row[]
    const { rows } = await db.executeQuery<Row>({ ...query, parameters })
    return rows
  }
}

/**
 * A bound value that the planner does not look at. SQLite plans a statement anew, at several times the cost of a small
 * read, whenever a value is bound that its planner has looked at: in a join it looks at nearly all.
 */
export function unseen<Value>(value: Value): RawBuilder<Value> {
  return sql<Value>`(select ${value})`
}
