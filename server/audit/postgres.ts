import { sql } from 'kysely'

/** Takes the lock of the row, or finds no row while another transaction holds it. */
export const unlessLocked = sql`for update skip locked`
