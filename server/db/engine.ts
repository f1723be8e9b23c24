import { type Kysely, SqliteAdapter } from '#kysely'
import type { Database } from './tables.ts'

/**
 * Picks, from two modules with the same functions, the one that speaks the SQL of this connection's engine.
 */
export function ofEngine<Module>(
  db: Kysely<Database>,
  { sqlite, postgres }: { sqlite: Module; postgres: Module },
): Module {
  return db.getExecutor().adapter instanceof SqliteAdapter ? sqlite : postgres
}
