import { type RawBuilder, sql } from '#kysely'

/** The edges of `list`, which is JSON. */
export function edgesIn(list: string): RawBuilder<unknown> {
  return sql`select value ->> 0 as number, value ->> 1 as since, value ->> 2 as until from json_each(${list})`
}
