import { existsSync } from 'node:fs'
import type * as Package from 'kysely'

/**
 * Kysely, imported as `#kysely`. It has 255 modules, which each thread and each command would load. `npm run
 * build` makes one file of them, used if it is there: `user list` then takes 0.26 s instead of 0.47 (ADR 25).
 */
const oneFile = new URL('one-file.js', import.meta.resolve('kysely'))
const kysely: typeof Package = existsSync(oneFile) ? await import(oneFile.href) : await import('kysely')

export type * from 'kysely'
export type Kysely<Tables> = Package.Kysely<Tables>
export const {
  expressionBuilder,
  Kysely,
  PostgresAdapter,
  PostgresDialect,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteDialect,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} = kysely
