import { sql } from 'kysely'

/** A transaction that writes is alone. */
export const unlessLocked = sql``
