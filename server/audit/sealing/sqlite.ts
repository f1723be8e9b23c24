import { type RawBuilder, sql } from '#kysely'
import { erased } from '../../../proof/line.ts'

/** SQLite needs no lock: it runs one writing transaction at a time. */
export const unlessLocked = sql``

export function sealsIn(list: string): RawBuilder<unknown> {
  return sql`select value ->> 0 as number, value ->> 1 as sequence, value ->> 2 as hash from json_each(${list})`
}

/** `clear` with null in place of a value and its salt. */
export function withoutValue(name: string): RawBuilder<string> {
  return sql`json_set(clear, '$.' || ${name}, json(${sql.lit(JSON.stringify(erased))}))`
}
