import { type RawBuilder, type SqlBool, sql } from '#kysely'

/** Locks the row, or finds none while another transaction holds it. */
export const unlessLocked = sql`for update skip locked`

/** The planner chooses the index. */
export function eventsBy(_index: string): RawBuilder<unknown> {
  return sql`events`
}

/** The statement timeout ends a read that takes too long. */
export const withinTime = sql<SqlBool>`true`

export function sealsIn(list: string): RawBuilder<unknown> {
  return sql`select (value ->> 0)::bigint as number, (value ->> 1)::bigint as sequence, value ->> 2 as hash
    from json_array_elements(cast(${list} as json))`
}
