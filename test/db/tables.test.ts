// engine: both
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { migrateDatabase } from '../../server/db/open.ts'
import type { AppDatabase } from '../../server/db/port.ts'
import { sqliteOwnTables, sqliteRowNumber } from '../../server/db/tables.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

interface Column {
  name: string
  type: string
  nullable: boolean
}

const source = readFileSync(new URL('../../server/db/tables.ts', import.meta.url), 'utf8')

/** `field: type` of each line of an interface, and of the one it extends. */
function membersOf(interfaceName: string): [string, string][] {
  const found = new RegExp(
    `export interface ${interfaceName} (?:extends (\\w+) )?\\{\\n([\\s\\S]*?)\\n\\}`,
  ).exec(source)
  assert.ok(found !== null, interfaceName)
  const [, base, body = ''] = found
  const own = [...body.matchAll(/^ {2}(\w+): (.+)$/gm)].map(([, name = '', type = '']): [string, string] => [
    name,
    type,
  ])
  return base === undefined ? own : [...own, ...membersOf(base)]
}

function columnType(type: string): Column['type'] {
  const plain = type.replace(' | null', '').replace(/^Generated<(.+)>$/, '$1')
  return plain === 'number' ? 'INTEGER' : 'TEXT'
}

/** Tables without data of the service: the list of migrations, and SQLite's. */
const others = ['schema_migrations', 'sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4']
const sqliteOwn: readonly string[] = sqliteOwnTables
/** SQLite's index of trigrams, and its parts. */
const searchTables = /^orders_search/

const isCommon = ({ name }: { name: string }) => name !== sqliteRowNumber

function columnNames(columns: readonly { name: string }[]): string[] {
  return columns
    .filter(isCommon)
    .map(({ name }) => name)
    .sort()
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
      membersOf('Database').map(([table, interfaceName]) => [
        table,
        membersOf(interfaceName)
          .map(([name]) => name)
          .sort(),
      ]),
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
    for (const [table, interfaceName] of membersOf('Database')) {
      const typed = membersOf(interfaceName).map(([name, type]) => ({
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
      const stored = columns.filter(isCommon).map(({ name, type, notnull, pk }) => ({
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
