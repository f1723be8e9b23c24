import { type RawBuilder, type SqlBool, sql } from '#kysely'

/** A writing transaction is alone. */
export const unlessLocked = sql``

export function eventsBy(index: string): RawBuilder<unknown> {
  return sql`events indexed by ${sql.ref(index)}`
}

/** Ends a read that takes too long (db/sqlite/reads.ts); called for one event in 256. */
export const withinTime = sql<SqlBool>`(sequence & 255 <> 0 or within_time() = 1)`

export function sealsIn(list: string): RawBuilder<unknown> {
  return sql`select value ->> 0 as number, value ->> 1 as sequence, value ->> 2 as hash from json_each(${list})`
}
