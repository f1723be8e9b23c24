import { DatabaseRefused } from './errors.ts'

export type DatabaseAddress = { engine: 'sqlite'; file: string } | { engine: 'postgres'; url: string }

/** What DATABASE_URL names. Throws `DatabaseRefused`; its message never repeats the address, which may hold a password. */
export function parseDatabaseUrl(databaseUrl: string): DatabaseAddress {
  if (/^postgres(ql)?:\/\//.test(databaseUrl)) {
    if (!URL.canParse(databaseUrl)) throw new DatabaseRefused('DATABASE_URL: the address is not a valid URL')
    return { engine: 'postgres', url: databaseUrl }
  }
  if (!databaseUrl.startsWith('file:')) {
    throw new DatabaseRefused('DATABASE_URL: must be file:PATH (SQLite) or postgres://... (PostgreSQL)')
  }
  const file = databaseUrl.slice('file:'.length).replace(/^\/\/(?=\/)/, '')
  // What cannot be a path is a slip, perhaps with a secret, and is not repeated.
  if (file === '' || file.startsWith(':') || file.length > 1_000 || /\p{Cc}/u.test(file)) {
    throw new DatabaseRefused('DATABASE_URL: file: must be followed by the path of a file')
  }
  return { engine: 'sqlite', file }
}

/** The file that holds the database; undefined for one on a server. */
export function databaseFile(databaseUrl: string): string | undefined {
  const address = parseDatabaseUrl(databaseUrl)
  return address.engine === 'sqlite' ? address.file : undefined
}
