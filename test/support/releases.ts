import { createHash, createPrivateKey } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import Sqlite from 'better-sqlite3'
import type pg from 'pg'
import { Kysely, PostgresDialect } from '#kysely'
import { migrateAll } from '../../server/db/migrate.ts'
import { schema } from '../../server/db/postgres/schema.ts'
import type { Database } from '../../server/db/tables.ts'
import { createTestDatabase, poolTo, type TestDatabase, testEngine } from './database.ts'
import { connectTo } from './postgres.ts'
import { newProduction, type Production } from './production.ts'
import { liveThroughEverything, type Recorded } from './story.ts'

/** The databases and answers that a release left, in test/releases/ (CONTRIBUTING.md, "A release"). */
const pathOf = (release: string, name: string) =>
  fileURLToPath(new URL(`../releases/${release}/${name}`, import.meta.url))
const fileOf = { sqlite: 'sqlite.db.gz', postgres: 'postgres.sql.gz' }[testEngine]

export function recordedBy(release: string): Recorded {
  return JSON.parse(readFileSync(pathOf(release, `${testEngine}.json`), 'utf8'))
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value instanceof Object && !Array.isArray(value)

/** A later answer without the members that have come since the earlier one. Lists keep their length. */
export function asBefore(later: unknown, earlier: unknown): unknown {
  if (Array.isArray(later) && Array.isArray(earlier)) {
    return later.map((each, index) => asBefore(each, earlier[index]))
  }
  if (!isObject(later) || !isObject(earlier)) return later
  const names = Object.keys(later).filter((name) => Object.hasOwn(earlier, name))
  return Object.fromEntries(names.map((name) => [name, asBefore(later[name], earlier[name])]))
}

/** A copy of the database that the release left. */
export async function databaseOf(release: string): Promise<TestDatabase> {
  const database = await createTestDatabase()
  const content = gunzipSync(readFileSync(pathOf(release, fileOf)))
  if (testEngine === 'sqlite') writeFileSync(database.file, content, { mode: 0o600 })
  else await withClient(database.databaseUrl, (client) => client.query(content.toString()))
  return database
}

/** Serves a database of the story, with the key of its log. */
export function productionOf(databaseUrl: string): Promise<Production> {
  return withLogKey({ databaseUrl, accounts: false })
}

/** Makes the database of this run's engine, by the service, and keeps it as what the release left. */
export async function keepRelease(release: string): Promise<void> {
  const production = await withLogKey({})
  try {
    const recorded = await liveThroughEverything(production)
    writeFileSync(pathOf(release, `${testEngine}.json`), `${JSON.stringify(recorded, null, 1)}\n`)
    const { databaseUrl } = production
    const content =
      testEngine === 'sqlite' ? contentOf(databaseUrl.slice('file:'.length)) : await dumpOf(databaseUrl)
    writeFileSync(pathOf(release, fileOf), gzipSync(content, { level: 9 }))
  } finally {
    await production.remove()
  }
}

/** A key that everybody can make, because these logs prove nothing. */
async function withLogKey(options: Parameters<typeof newProduction>[0]): Promise<Production> {
  const production = await newProduction(options)
  const folder = mkdtempSync(join(tmpdir(), 'countersign-release-'))
  const seed = createHash('sha256').update('the log of the databases in test/releases').digest()
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const file = join(folder, 'log.pem')
  writeFileSync(file, key.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 })
  production.env.LOG_KEY_FILES = file
  const { remove } = production
  return {
    ...production,
    async remove() {
      await remove()
      rmSync(folder, { recursive: true })
    },
  }
}

/** The whole database in one file. */
function contentOf(file: string): Buffer {
  const database = new Sqlite(file)
  try {
    database.exec('vacuum')
    database.pragma('wal_checkpoint(truncate)')
    return readFileSync(file)
  } finally {
    database.close()
  }
}

/** SQL that makes the database, as pg_dump would, which npm does not bring. */
async function dumpOf(databaseUrl: string): Promise<string> {
  const statements = await schemaStatements()
  return withClient(databaseUrl, async (client) => {
    const { rows: tables } = await client.query<{ name: string; columns: string }>(
      `select quote_ident(relname) as name, string_agg(quote_ident(attname), ', ' order by attnum) as columns
       from pg_class join pg_attribute on attrelid = pg_class.oid
       where relkind = 'r' and relnamespace = 'public'::regnamespace and attnum > 0
         and not attisdropped and attgenerated = '' group by relname order by relname`,
    )
    for (const { name, columns } of tables) {
      const { rows } = await client.query<{ row: string }>(
        `select row_to_json(one)::text as row from ${name} as one order by 1`,
      )
      if (rows.length === 0) continue
      const values = rows.map(({ row }) => row).join(',\n')
      statements.push(`insert into ${name} (${columns}) overriding system value
        select ${columns} from json_populate_recordset(null::${name}, $rows$[${values}]$rows$)`)
    }
    const { rows: sequences } = await client.query<{ name: string; last: string }>(
      `select quote_ident(sequencename) as name, last_value as last from pg_sequences
       where schemaname = 'public' and last_value is not null order by 1`,
    )
    for (const { name, last } of sequences) statements.push(`select setval('${name}', ${last})`)
    // Triggers and foreign keys have done their work already.
    return ['set session_replication_role = replica', ...statements].map((each) => `${each};\n`).join('')
  })
}

/** The statements of the migrations that make something. */
async function schemaStatements(): Promise<string[]> {
  const { databaseUrl, drop } = await createTestDatabase()
  const statements: string[] = []
  const db = new Kysely<Database>({
    dialect: new PostgresDialect({ pool: poolTo(databaseUrl) }),
    log: ({ query }) => {
      if (/^\s*(?:create|alter) /.test(query.sql)) statements.push(query.sql)
    },
  })
  await db.transaction().execute((trx) => migrateAll(trx, schema))
  await db.destroy()
  await drop()
  return statements
}

async function withClient<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectTo(databaseUrl)
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Everything that migrations make, in the words of the engine. */
export async function schemaOf({ databaseUrl, file }: TestDatabase): Promise<string[]> {
  if (testEngine === 'sqlite') {
    const database = new Sqlite(file, { readonly: true })
    const rows = database.prepare('select sql from sqlite_master where sql is not null order by name').all()
    database.close()
    return rows.map((row) => (row as { sql: string }).sql)
  }
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ fact: string }>(schemaFacts)
    return rows.map(({ fact }) => fact)
  })
}

const schemaFacts = `with own as (select * from pg_class where relnamespace = 'public'::regnamespace)
  select concat_ws(' ', relname, attname, format_type(atttypid, atttypmod), attnotnull, attidentity, attcollation,
    attstorage, pg_get_expr(adbin, adrelid)) as fact
    from own join pg_attribute on attrelid = own.oid left join pg_attrdef on adrelid = own.oid and adnum = attnum
    where relkind in ('r', 'v') and attnum > 0
  union all select concat_ws(' ', relname, reloptions) from own
  union all select concat_ws(' ', relname, conname, pg_get_constraintdef(con.oid))
    from pg_constraint as con join own on conrelid = own.oid
  union all select pg_get_indexdef(indexrelid) from pg_index join own on indexrelid = own.oid
  union all select pg_get_triggerdef(trigger.oid) from pg_trigger as trigger join own on tgrelid = own.oid
    where not tgisinternal
  union all select pg_get_viewdef(own.oid) from own where relkind = 'v'
  union all select pg_get_functiondef(pg_proc.oid) from pg_proc
    where pronamespace = 'public'::regnamespace and prolang = (select oid from pg_language where lanname = 'plpgsql')
  order by 1`
