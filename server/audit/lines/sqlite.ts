import { type RawBuilder, sql } from '#kysely'

export function eventsBy(index: string): RawBuilder<unknown> {
  return sql`events indexed by ${sql.ref(index)}`
}

/** The value in `clear`; null if it was erased. For `by` an index has it. */
export function clearValue(name: string): RawBuilder<string | null> {
  return sql`(clear -> ${sql.lit(name)} ->> 'value')`
}
