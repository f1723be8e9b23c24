import { createWriteStream, existsSync, rmSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { headOfLog } from '../audit/audit.ts'
import { loadLogKeys } from '../audit/checkpoints/checkpoints.ts'
import { newestCheckpoint } from '../audit/checkpoints/proof.ts'
import { exportLog } from '../audit/lines/log.ts'
import { publicUrlAt, readConfig } from '../config.ts'
import type { AppDatabase } from '../db/port.ts'
import type { Invocation, Outcome } from './command.ts'
import { databaseOf, refuseMissingDatabase, withDatabase } from './database.ts'
import { Refused } from './failures.ts'
import { printAll } from './output.ts'

const caller = 'log'

/** To a new file that only its owner may read, or to standard output. */
export async function runExportLog(invocation: Invocation): Promise<Outcome> {
  const file = invocation.positionals[0] ?? '-'
  if (file !== '-' && existsSync(file)) {
    throw new Refused('file-exists', `${file} already exists; it was not changed`)
  }
  const { size } = await withSealedLog(invocation, async (db) => {
    const lines = exportLog(db, 0, caller)
    if (file === '-') await printAll(lines)
    else await writeWhole(file, Readable.from(lines, { objectMode: false }))
    return headOfLog(db.read)
  })
  if (file === '-') return { value: undefined, text: '' }
  return { value: { file, size }, text: `Wrote the log to ${file}; it has ${size} events.` }
}

/** Removes the file when it cannot be finished, because a part of the log could be mistaken for the whole. */
async function writeWhole(file: string, lines: Readable): Promise<void> {
  const output = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true })
  try {
    await pipeline(lines, output)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') rmSync(file, { force: true })
    throw error
  }
}

/** Uses the keys and the address that `serve` would use in the same folder and environment. */
export async function runLogCheckpoint(invocation: Invocation): Promise<Outcome> {
  const config = readConfig(process.env, invocation)
  if (config.logKeyFiles.length === 0) {
    throw new Refused('no-key', 'LOG_KEY_FILES is missing: its key signs checkpoints')
  }
  const keys = loadLogKeys(config.logKeyFiles)
  const publicUrl = () => publicUrlAt(config, config.port)
  const newest = await withSealedLog(invocation, (db) => newestCheckpoint({ db, keys, publicUrl }))
  return { value: newest, text: newest.checkpoint.trimEnd() }
}

/** Refuses a missing database, because the log of a new one is empty and verifies. */
export function withSealedLog<T>(invocation: Invocation, work: (db: AppDatabase) => Promise<T>): Promise<T> {
  refuseMissingDatabase(databaseOf(invocation).databaseUrl)
  const sealed = async (db: AppDatabase) => {
    await seal(db)
    return work(db)
  }
  return withDatabase(invocation, sealed, { isPatient: true })
}

/** Seals every waiting event, unless a running service is doing so. */
async function seal(db: AppDatabase): Promise<void> {
  while ((await db.write('sealEvents', { limit: 1_000 })) > 0);
}
