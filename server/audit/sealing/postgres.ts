import { type RawBuilder, sql } from '#kysely'

/** Locks the row. Matches no row while another transaction holds the lock. */
export const unlessLocked = sql`for update skip locked`

export function sealsIn(list: string): RawBuilder<unknown> {
  return sql`select (value ->> 0)::bigint as number, (value ->> 1)::bigint as sequence, value ->> 2 as hash
    from json_array_elements(cast(${list} as json))`
}

/** Waits until no other transaction holds the lock. */
export const locked = sql`for update`
