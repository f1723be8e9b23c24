import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { migrateDatabase } from '../db/open.ts'
import { type Invocation, type Outcome, requiredArgument } from './command.ts'
import { databaseOf, refuseMissingDatabase, withDatabase } from './database.ts'
import { Refused } from './failures.ts'

export async function runMigrate(invocation: Invocation): Promise<Outcome> {
  const applied = await migrateDatabase(databaseOf(invocation))
  return {
    value: { applied },
    text: applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`,
  }
}

export async function runBackup(invocation: Invocation): Promise<Outcome> {
  const file = requiredArgument(invocation, 0, 'the file')
  refuseMissingDatabase(databaseOf(invocation).databaseUrl)
  if (existsSync(file)) throw new Refused('file-exists', `${file} exists already; it is left as it is`)
  const folder = dirname(file)
  if (!existsSync(folder)) throw new Refused('no-such-folder', `there is no folder ${folder}`)
  // The copy holds password hashes: from its first byte on only its owner may read it.
  process.umask(0o077)
  await withDatabase(invocation, (db) => db.backup(file))
  const { size } = statSync(file)
  return { value: { file, bytes: size }, text: `Copied the database to ${file} (${size} bytes).` }
}
