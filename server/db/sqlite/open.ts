import { existsSync } from 'node:fs'
import type { MessagePort } from 'node:worker_threads'
import type Sqlite from 'better-sqlite3'
import { Kysely, sql } from '#kysely'
import { DatabaseRefused } from '../errors.ts'
import { type JudgedDatabase, judge, migrateNext, requireMigrated } from '../migrate.ts'
import {
  type DatabasePort,
  type ReadOperations,
  type Registry,
  type WriteOperations,
  waitingWritesLimit,
} from '../port.ts'
import { RefusedWrites } from '../refusals.ts'
import type { Database } from '../tables.ts'
import { backUp } from './backup.ts'
import { sqliteDialect, translateErrors } from './driver.ts'
import {
  explain,
  openReadOnly,
  openWritable,
  placeToRead,
  prepareFile,
  removeLog,
  requireFile,
  rewriteFile,
  watchPlace,
} from './files.ts'
import { Reads, runSqliteReader } from './reads.ts'
import { schema } from './schema.ts'
import { DatabaseThread } from './thread.ts'
import { Trial, trialName } from './trial.ts'
import { TurnSnapshot } from './turn.ts'
import { runSqliteWriter } from './writes.ts'

/** Migrates the file, a step at a time, each under the write lock (two processes may start at once). */
export async function migrateSqlite(file: string, steps = schema): Promise<string[]> {
  prepareFile(file)
  let connection: Sqlite.Database | undefined
  try {
    connection = translateErrors(() => openWritable(file))
    const db = new Kysely<Database>({ dialect: sqliteDialect(connection, 'begin immediate') })
    const applied: string[] = []
    for (;;) {
      const name = await db.transaction().execute((trx) => migrateNext(trx, steps))
      if (name === undefined) return applied
      applied.push(name)
    }
  } catch (error) {
    throw explain(error, file)
  } finally {
    connection?.close()
  }
}

/** Says what is pending in a file. Changes nothing. */
export function judgeSqlite(file: string, steps = schema): Promise<JudgedDatabase> {
  return reading(file, async (place) => {
    const connection = translateErrors(() => openReadOnly(place))
    try {
      const db = new Kysely<Database>({ dialect: sqliteDialect(connection, 'begin') })
      return await judge(db, steps)
    } finally {
      connection.close()
    }
  })
}

/** Copies a file of any version, which is not changed. Returns the oldest release that serves the copy. */
export async function backUpSqlite(file: string, target: string): Promise<string | null> {
  if (existsSync(target)) throw new DatabaseRefused(`${target} exists already`)
  await reading(file, (place) => backUp(place, target))
  return (await judgeSqlite(target)).oldestRelease
}

/** Works where nothing can be written, too. */
async function reading<T>(file: string, work: (place: string) => Promise<T>): Promise<T> {
  requireFile(file)
  const { place, leave } = placeToRead(file)
  try {
    return await work(place)
  } catch (error) {
    throw explain(error, file)
  } finally {
    if (place === file) removeLog(file)
    leave()
  }
}

interface SqliteParts extends Registry<WriteOperations, ReadOperations> {
  file: string
  isForService?: boolean | undefined
  /** Called when everything is closed. */
  release?: (() => void) | undefined
}

/**
 * Opens a file that must be of this version, for reading only: what `write` changes may be lost. Works where
 * nothing can be written.
 */
export async function openSqliteToRead<Operations extends WriteOperations, NamedReads extends ReadOperations>(
  parts: SqliteParts,
): Promise<DatabasePort<Operations, NamedReads>> {
  const { file } = parts
  requireFile(file)
  const { place, leave } = placeToRead(file)
  let close = async () => leave()
  try {
    const db = openSqlite<Operations, NamedReads>({ ...parts, file: place })
    close = () => db.close().finally(leave)
    await requireMigrated(db.read, schema)
    return { ...db, close }
  } catch (error) {
    await close()
    throw explain(error, file)
  }
}

/**
 * Opens a migrated file: a read-only connection in this thread; for a service, also a thread for the writer
 * and threads for reads that may take long. A command has nothing else to do meanwhile, so it writes in this
 * thread: another would take 50 ms of a core to load. Each starts on first use.
 */
export function openSqlite<Operations extends WriteOperations, NamedReads extends ReadOperations>({
  file,
  isForService = false,
  operations,
  writerEntry,
  reads: registeredReads,
  readerEntry,
  refusals,
  release,
  ...refusalOptions
}: SqliteParts): DatabasePort<Operations, NamedReads> {
  const connection = translateErrors(() => openReadOnly(file))
  const assertInPlace = watchPlace(file)
  const snapshot = new TurnSnapshot(connection)
  const read = new Kysely<Database>({
    dialect: sqliteDialect(connection, 'begin', () => snapshot.begin()),
  })
  const beforeResults = () => snapshot.end()
  const readHere = (port: MessagePort) => runSqliteReader(port, file, registeredReads, refusals)
  const writeHere = (port: MessagePort) => runSqliteWriter(port, file, operations, refusals)
  const reads = new Reads({ loop: isForService ? readerEntry : readHere, file, refusals, beforeResults })
  const writer = new DatabaseThread({
    name: 'the writer',
    loop: isForService ? writerEntry : writeHere,
    file,
    refusals,
    waitingLimit: waitingWritesLimit,
    beforeResults,
  })

  const refused = new RefusedWrites(refusalOptions)
  const trial = new Trial(() => refused.noteTrial(writer.run(trialName, null)))

  return {
    defersTally: false,
    read,
    // biome-ignore lint/suspicious/noExplicitAny: the registry's types are checked at the call (port.ts)
    query: (name, input, options) => reads.query(name, input, options) as Promise<any>,
    // biome-ignore lint/suspicious/noExplicitAny: the registry's types are checked at the call (port.ts)
    write: (name, input) => refused.note(name, writer.run(name, input)) as Promise<any>,
    async ping() {
      await sql`select 1 from roles limit 1`.execute(read)
      assertInPlace()
      await writer.start()
    },
    async refusesWrites() {
      await trial.make()
      return refused.refusal
    },
    load: () => ({ writes: { running: writer.underWay }, lists: reads.load }),
    async rewrite() {
      assertInPlace()
      snapshot.end()
      return rewriteFile(file)
    },
    async close() {
      connection.close()
      // The writer's connection closes last, because a read-only one cannot move the log into the file.
      await writer.close(reads.close())
      removeLog(file, assertInPlace)
      release?.()
    },
  }
}
