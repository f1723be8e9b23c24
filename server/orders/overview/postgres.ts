import { type RawBuilder, sql } from '#kysely'

/** The edges of `list`, which is JSON. */
export function edgesIn(list: string): RawBuilder<unknown> {
  return sql`select (value ->> 0)::bigint as number, (value ->> 1)::bigint as since, (value ->> 2)::bigint as until
    from json_array_elements(cast(${list} as json))`
}
