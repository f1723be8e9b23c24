import { type RawBuilder, sql } from '#kysely'

/** SQLite needs no lock: it runs one writing transaction at a time. */
export const unlessLocked = sql``

export function sealsIn(list: string): RawBuilder<unknown> {
  return sql`select value ->> 0 as number, value ->> 1 as sequence, value ->> 2 as hash from json_each(${list})`
}

export const locked = sql``
