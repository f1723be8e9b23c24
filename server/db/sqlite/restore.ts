/** Puts a backup in the place of a SQLite database, all or nothing. */
import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Sqlite from 'better-sqlite3'
import { Kysely } from '#kysely'
import { about, DatabaseRefused } from '../errors.ts'
import { requireMigrated } from '../migrate.ts'
import type { Database, Db, Trx } from '../tables.ts'
import { backUp } from './backup.ts'
import { sqliteDialect, translateErrors } from './driver.ts'
import { explain, placeToRead, prepareFile, removeLog, requireFile } from './files.ts'
import { schema } from './schema.ts'

export interface RestoreParts<T> {
  file: string
  /** The file that takes the place of the database. It is not changed. */
  backup: string
  /** The later name of the former database. No file may have this name. */
  formerName: (file: string) => string
  /**
   * Runs in a transaction of the restored database, before anyone else can open it. `former` is undefined if
   * there was none.
   */
  change(restored: Trx, former: Db | undefined): Promise<T>
  /** Whether the copy is rewritten after the change, so that nothing is left of what that took away. */
  isRewritten?: ((changed: T) => boolean) | undefined
}

export interface RestoredDatabase<T> {
  file: string
  /** Where the former database is; undefined if there was none. */
  former: string | undefined
  changed: T
}

/**
 * The backup is copied next to the database, checked and changed there, and takes its place by one rename. So
 * whenever this process is killed, the file is the former database or the restored one. Throws
 * `DatabaseRefused` if a process has the database open, or the backup is not whole or not of this version.
 */
export async function restoreSqlite<T>(parts: RestoreParts<T>): Promise<RestoredDatabase<T>> {
  const { file } = parts
  const copy = `${file}.restoring`
  const held = await hold(file)
  try {
    remove(copy)
    const changed = await about('the backup', () => prepare(parts, copy, held))
    // An empty file is no database, but the place that `hold` made for one.
    const former = statSync(file).size === 0 ? undefined : parts.formerName(file)
    if (former !== undefined) linkSync(file, former)
    renameSync(copy, file)
    flush(dirname(file))
    return { file, former, changed }
  } finally {
    remove(copy)
    held.close()
  }
}

/**
 * Locks the database until the connection closes, with everything in its one file. Without a write-ahead log,
 * nothing of it can get into the file that takes its place. A process that opened the former file and waited
 * for the lock cannot write to it later: SQLite sees that it was moved.
 */
async function hold(file: string): Promise<Sqlite.Database> {
  prepareFile(file)
  const connection = translateErrors(() => new Sqlite(file))
  try {
    translateErrors(() => connection.pragma('journal_mode = delete'))
    translateErrors(() => connection.exec('begin exclusive'))
    // Another process may have opened it between the two statements.
    if (connection.pragma('journal_mode', { simple: true }) === 'delete') return connection
  } catch (error) {
    connection.close()
    throw refusalOf(error, file)
  }
  connection.close()
  throw inUse(file)
}

function refusalOf(error: unknown, file: string): unknown {
  const cause = error instanceof Error ? error.cause : undefined
  const code = cause instanceof Sqlite.SqliteError ? cause.code : ''
  if (/^SQLITE_(?:BUSY|LOCKED)/.test(code)) return inUse(file)
  if (!/^SQLITE_(?:CORRUPT|NOTADB)/.test(code)) return explain(error, file)
  return new DatabaseRefused(
    `DATABASE_URL: ${file} is too damaged to be locked: make sure that no process uses it, move it away` +
      ' together with its -wal and -shm, and try again',
    { cause: error },
  )
}

function inUse(file: string): DatabaseRefused {
  return new DatabaseRefused(
    `DATABASE_URL: ${file} is in use: stop the service and every command that uses it, then try again`,
  )
}

/** Copies the backup, checks the copy and changes it. Afterwards the copy is on the disk, in one file. */
async function prepare<T>(
  { file, backup, change, isRewritten = () => false }: RestoreParts<T>,
  copy: string,
  held: Sqlite.Database,
): Promise<T> {
  requireFile(backup)
  const [one, other] = [statSync(backup), statSync(file)]
  if (one.ino === other.ino && one.dev === other.dev) {
    throw new DatabaseRefused(`DATABASE_URL: ${backup} is the database itself`)
  }
  const { place, leave } = placeToRead(backup)
  try {
    await backUp(place, copy)
    if (place === backup) removeLog(backup)
    // An empty file is no database, but the place that `hold` made for one.
    const former = other.size === 0 ? undefined : kyselyOf(held)
    const changed = await inCopy(copy, (trx) => change(trx, former), isRewritten)
    flush(copy)
    return changed
  } catch (error) {
    throw explain(error, backup)
  } finally {
    leave()
  }
}

async function inCopy<T>(
  copy: string,
  work: (trx: Trx) => Promise<T>,
  isRewritten: (changed: T) => boolean,
): Promise<T> {
  const connection = translateErrors(() => new Sqlite(copy))
  try {
    const db = kyselyOf(connection)
    translateErrors(() => connection.pragma('journal_mode = delete'))
    const fault = translateErrors(() => connection.pragma('quick_check(1)', { simple: true }))
    if (fault !== 'ok') throw new DatabaseRefused(`DATABASE_URL: it is damaged: ${fault}`)
    await requireMigrated(db, schema)
    const changed = await db.transaction().execute(work)
    if (isRewritten(changed)) translateErrors(() => connection.exec('vacuum'))
    return changed
  } finally {
    connection.close()
  }
}

function kyselyOf(connection: Sqlite.Database): Db {
  return new Kysely<Database>({ dialect: sqliteDialect(connection, 'begin immediate') })
}

/** Removes what a run that was killed left behind, too. */
function remove(copy: string): void {
  for (const end of ['', '-journal', '-wal', '-shm']) rmSync(`${copy}${end}`, { force: true })
}

/** Returns once the file, or the names in the folder, are on the disk. Windows cannot wait for a folder. */
function flush(path: string): void {
  const isFolder = statSync(path).isDirectory()
  if (isFolder && process.platform === 'win32') return
  const opened = openSync(path, isFolder ? 'r' : 'r+')
  try {
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
}
