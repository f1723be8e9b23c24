import { type RawBuilder, sql } from '#kysely'

export function eventsBy(index: string): RawBuilder<unknown> {
  return sql`events indexed by ${sql.ref(index)}`
}
