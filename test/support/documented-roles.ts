import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { migrateDatabase } from '../../server/db/open.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { runSql } from './postgres.ts'

export interface ServedDatabase extends TestDatabase {
  /** The address that the service is given. */
  appUrl: string
}

/** A database for a service. On PostgreSQL it is migrated, and has the roles of docs/operations.md. */
export async function createServedDatabase(): Promise<ServedDatabase> {
  const server = process.env.TEST_DATABASE_URL
  if (server !== undefined) return createWithRoles(server)
  const database = await createTestDatabase()
  return { ...database, appUrl: database.databaseUrl }
}

/** Runs the page's statements as they stand, except for the names. */
async function createWithRoles(server: string): Promise<ServedDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const addressFor = (role?: string) => {
    const url = new URL(server)
    url.pathname = `/${name}`
    return Object.assign(url, role && { username: `${name}_${role}`, password: `change-me-${role}` }).href
  }
  const { before, inside, afterMigration } = statementsOf(name)
  await runEach(server, before)
  await runEach(addressFor(), inside)
  await migrateDatabase({ databaseUrl: addressFor('owner') })
  await runEach(addressFor('owner'), afterMigration)
  const roles = `drop role ${name}_app; drop role ${name}_owner`
  return {
    databaseUrl: addressFor('owner'),
    appUrl: addressFor('app'),
    file: '',
    drop: () => runEach(server, `drop database ${name} with (force); ${roles}`),
  }
}

function statementsOf(name: string) {
  const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
  const [, section = ''] = page.split('\n## PostgreSQL\n')
  const [first = '', afterMigration = ''] = [...section.matchAll(/^```sql\n(.*?)^```/gms)].map(
    ([, text = '']) => text.replaceAll(/\bcountersign(_owner|_app)?\b/g, `${name}$1`),
  )
  const [before = '', inside = ''] = first.split(`\\connect ${name}\n`)
  assert.match(inside, /alter default privileges/)
  assert.match(afterMigration, /revoke .* on schema_migrations/)
  return { before, inside, afterMigration }
}

async function runEach(url: string, statements: string): Promise<void> {
  for (const statement of statements.split(';').filter((text) => text.trim() !== '')) {
    await runSql(url, statement)
  }
}
