import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { migrateDatabase } from '../../server/db/open.ts'
import { administer, createTestDatabase, keepRawDatabase, type TestDatabase } from './database.ts'
import { connectTo } from './postgres.ts'

export interface ServedDatabase extends TestDatabase {
  /** The address that the service is given. */
  appUrl: string
}

/** A database for a service. On PostgreSQL it is migrated, and has the roles of docs/operations.md. */
export async function createServedDatabase(): Promise<ServedDatabase> {
  const server = process.env.TEST_DATABASE_URL
  if (server !== undefined) return createCopy(server)
  const database = await createTestDatabase()
  return { ...database, appUrl: database.databaseUrl }
}

/** Made once for a process, because the statements and the migration cost a third of a second. */
let original: Promise<string> | undefined

/** A copy has its own database but the roles of the original. */
async function createCopy(server: string): Promise<ServedDatabase> {
  original ??= createOriginal(server)
  const roles = await original
  const name = newName()
  const { database } = statementsOf(name, roles)
  await administer(server, ...each(database.replace('template0', `${roles} strategy file_copy`)))
  const databaseUrl = addressOf(server, name, roles, 'owner')
  const close = keepRawDatabase(databaseUrl)
  return {
    databaseUrl,
    appUrl: addressOf(server, name, roles, 'app'),
    file: '',
    async drop() {
      await close()
      await administer(server, `drop database ${name} with (force)`)
    },
  }
}

/** Runs the page's statements as they stand, except for the names. Returns the name of the database. */
async function createOriginal(server: string): Promise<string> {
  const name = newName()
  const { roles, database, inside, afterMigration } = statementsOf(name, name)
  await administer(server, ...each(roles + database))
  await runEach(addressOf(server, name), inside)
  const owner = addressOf(server, name, name, 'owner')
  await migrateDatabase({ databaseUrl: owner })
  await runEach(owner, afterMigration)
  process.once('beforeExit', () =>
    administer(server, `drop database ${name}`, `drop role ${name}_app`, `drop role ${name}_owner`),
  )
  return name
}

const newName = () => `test_${randomBytes(8).toString('hex')}`

function addressOf(server: string, name: string, roles?: string, role?: 'owner' | 'app'): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return Object.assign(url, roles && { username: `${roles}_${role}`, password: `change-me-${role}` }).href
}

function statementsOf(name: string, roleNames: string) {
  const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
  const [, section = ''] = page.split('\n## PostgreSQL\n')
  const [first = '', afterMigration = ''] = [...section.matchAll(/^```sql\n(.*?)^```/gms)].map(
    ([, text = '']) =>
      text.replaceAll(/\bcountersign(_owner|_app)\b/g, `${roleNames}$1`).replaceAll(/\bcountersign\b/g, name),
  )
  const [, roles = '', database = '', inside = ''] =
    /^(create role.*?)(create database.*?)\\connect \w+\n(.*)/s.exec(first) ?? []
  assert.match(database, /template template0;/)
  assert.match(inside, /alter default privileges/)
  assert.match(afterMigration, /revoke .* on schema_migrations/)
  return { roles, database, inside, afterMigration }
}

const each = (statements: string) => statements.split(';').filter((text) => text.trim() !== '')

async function runEach(url: string, statements: string): Promise<void> {
  const client = await connectTo(url)
  try {
    for (const statement of each(statements)) await client.query(statement)
  } finally {
    await client.end()
  }
}
