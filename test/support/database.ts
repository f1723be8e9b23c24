import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'

/** The server of the PostgreSQL half of the suite; without it tests run on SQLite. `tools/test.ts` sets it. */
const serverUrl = process.env.TEST_DATABASE_URL

export const testEngine = serverUrl ? 'postgres' : 'sqlite'

export interface TestDatabase {
  databaseUrl: string
  /** Of SQLite: the file. */
  file: string
  drop(): Promise<void>
}

/** An empty database of its own for one test or one file of tests. */
export function createTestDatabase(): Promise<TestDatabase> {
  return serverUrl ? createPostgres(serverUrl) : createSqlite()
}

async function createSqlite(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-test-'))
  const file = join(folder, 'test.db')
  return { databaseUrl: `file:${file}`, file, drop: () => rm(folder, { recursive: true, force: true }) }
}

async function createPostgres(server: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  await administer(server, `create database ${name} strategy file_copy`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    databaseUrl: url.href,
    file: '',
    drop: () => administer(server, `drop database ${name} with (force)`),
  }
}

async function administer(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
