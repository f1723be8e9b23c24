import { type RawBuilder, sql } from '#kysely'

/** The planner chooses the index. */
export function eventsBy(_index: string): RawBuilder<unknown> {
  return sql`events`
}
