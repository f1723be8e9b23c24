import { type RawBuilder, sql } from '#kysely'
import { erased } from '../../../proof/line.ts'

/** Locks the row. Matches no row while another transaction holds the lock. */
export const unlessLocked = sql`for update skip locked`

export function sealsIn(list: string): RawBuilder<unknown> {
  return sql`select (value ->> 0)::bigint as number, (value ->> 1)::bigint as sequence, value ->> 2 as hash
    from json_array_elements(cast(${list} as json))`
}

/** `clear` with null in place of a value and its salt. */
export function withoutValue(name: string): RawBuilder<string> {
  return sql`cast(jsonb_set(cast(clear as jsonb), array[${name}], ${sql.lit(JSON.stringify(erased))}) as text)`
}
