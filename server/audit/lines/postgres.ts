import { type RawBuilder, sql } from '#kysely'

/** The planner chooses the index. */
export function eventsBy(_index: string): RawBuilder<unknown> {
  return sql`events`
}

/** The value in `clear`; null if it was erased. For `by` an index has it. */
export function clearValue(name: string): RawBuilder<string | null> {
  return sql`(cast(clear as json) -> ${sql.lit(name)} ->> 'value')`
}
