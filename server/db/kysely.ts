import { existsSync } from 'node:fs'
import type * as Package from 'kysely'

/**
 * Kysely, imported as `#kysely`. It has 255 modules, which each thread and each command would load. `npm run
 * build` makes one file of them, used if it is there: `user list` then takes 0.26 s instead of 0.47 (ADR 25).
 * The package has it next to this module.
 */
const oneFile = [import.meta.url, import.meta.resolve('kysely')]
  .map((place) => new URL('one-file.js', place))
  .find((place) => existsSync(place))
const kysely: typeof Package = await import(oneFile?.href ?? 'kysely')

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
