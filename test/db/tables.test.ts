// engine: both
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { migrateDatabase } from '../../server/db/open.ts'
import type { AppDatabase } from '../../server/db/port.ts'
import { sqliteOwnTables } from '../../server/db/tables.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { runSql, withoutPostgres } from '../support/postgres.ts'

interface Column {
  name: string
  type: string
  nullable: boolean
}

const source = readFileSync(new URL('../../server/db/tables.ts', import.meta.url), 'utf8')

type Members = [name: string, type: string][]

function membersOf(body: string): Members {
  return [...body.matchAll(/^\s*(\w+): (.+?)\s*$/gm)].map(([, name = '', type = '']) => [name, type])
}

function bodyOf(interfaceName: string): string {
  const found = new RegExp(`interface ${interfaceName} \\{\\n([\\s\\S]*?)\\n\\}`).exec(source)
  assert.ok(found !== null, interfaceName)
  return found[1] ?? ''
}

/** The columns of each table. A table may begin with those of an interface or of a table above it. */
function typedTables(): [table: string, columns: Members][] {
  const columns = new Map<string, Members>([
    ['none', []],
    ...['EventColumns', 'RuleColumns', 'TallyColumns'].map(
      (name) => [name, membersOf(bodyOf(name))] as const,
    ),
  ])
  const tables = bodyOf('Database').matchAll(/^ {2}(\w+): (?:(\S+) & )?\{([\s\S]*?)\}$/gm)
  return [...tables].map(([, table = '', base = 'none', body = '']) => {
    const shared = columns.get(base.replace(/^Database\['(\w+)'\]$/, '$1'))
    assert.ok(shared !== undefined, base)
    columns.set(table, [...shared, ...membersOf(body)])
    return [table, columns.get(table) ?? []]
  })
}

function columnType(type: string): Column['type'] {
  const plain = type.replace(' | null', '').replace(/^Generated<(.+)>$/, '$1')
  return ({ number: 'INTEGER', Uint8Array: 'BLOB' } as const)[plain] ?? 'TEXT'
}

/** Tables without data of the service: the list of migrations, and SQLite's. */
const others = ['schema_migrations', 'sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4']
const sqliteOwn: readonly string[] = sqliteOwnTables
/** SQLite's index of trigrams, and its parts. */
const searchTables = /^orders_search/

function columnNames(columns: readonly { name: string }[]): string[] {
  return columns.map(({ name }) => name).sort()
}

describe('the tables of either engine', () => {
  let database: TestDatabase
  let db: AppDatabase
  before(async () => {
    database = await createTestDatabase()
    db = await openAppDatabase(database)
  })
  after(async () => {
    await db.close()
    await database.drop()
  })

  it('are exactly the tables that the types name, with exactly their columns', async () => {
    const typed = Object.fromEntries(
      typedTables().map(([table, columns]) => [table, columns.map(([name]) => name).sort()]),
    )
    const tables = await db.read.introspection.getTables()
    const stored = tables
      .filter(
        ({ name, isView }) =>
          !isView && !others.includes(name) && !sqliteOwn.includes(name) && !searchTables.test(name),
      )
      .map(({ name, columns }) => [name, columnNames(columns)])
    assert.ok(Object.keys(typed).length >= 13)
    assert.deepEqual(Object.fromEntries(stored), typed)
  })

  it('have the nullability of the types on PostgreSQL, and compare text by code point', {
    skip: withoutPostgres,
  }, async () => {
    const stored = await runSql<{ place: string; nullable: boolean; collation: string | null }>(
      database.databaseUrl,
      `select attrelid::regclass || '.' || attname as place, not attnotnull as nullable, collname as collation
        from pg_attribute left join pg_collation on pg_collation.oid = attcollation where attnum > 0`,
    )
    const columns = new Map(stored.map((column) => [column.place, column]))
    for (const [table, members] of typedTables()) {
      for (const [name, type] of members) {
        const { place, nullable, collation } = columns.get(`${table}.${name}`) ?? assert.fail(name)
        assert.equal(nullable, type.endsWith(' | null'), place)
        assert.ok(collation === null || collation === 'C', `${place}: ${collation}`)
      }
    }
  })
})

describe('the tables of SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-tables-'))
  let database: Sqlite.Database
  before(async () => {
    const file = join(folder, 'test.db')
    await migrateDatabase({ databaseUrl: `file:${file}` })
    database = new Sqlite(file, { readonly: true })
  })
  after(() => {
    database.close()
    rmSync(folder, { recursive: true })
  })

  it('have exactly the columns that the types name, with their types and nullability', () => {
    for (const [table, members] of typedTables()) {
      const typed = members.map(([name, type]) => ({
        name,
        type: columnType(type),
        nullable: type.endsWith(' | null'),
      }))
      const columns = database.pragma(`table_info(${table})`) as {
        name: string
        type: string
        notnull: number
        pk: number
      }[]
      const stored = columns.map(({ name, type, notnull, pk }) => ({
        name,
        type,
        nullable: notnull === 0 && pk === 0,
      }))
      const byName = (a: Column, b: Column) => (a.name < b.name ? -1 : 1)
      assert.deepEqual(stored.sort(byName), typed.sort(byName), table)
    }
  })

  it('are strict: no value of another type can be stored', () => {
    const strict = database
      .prepare('select name, strict from pragma_table_list where schema = ? and type = ? and name not like ?')
      .all('main', 'table', 'sqlite_schema')
    const loose = (strict as { name: string; strict: number }[])
      .filter(({ name, strict }) => strict === 0 && !searchTables.test(name))
      .map(({ name }) => name)
    assert.deepEqual(loose.sort(), [...others].sort())
  })

  it('have no reference to a row that does not exist', () => {
    assert.deepEqual(database.pragma('foreign_key_check'), [])
    assert.equal(database.pragma('integrity_check', { simple: true }), 'ok')
  })
})
