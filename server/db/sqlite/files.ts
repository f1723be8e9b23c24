import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { DatabaseRefused, DatabaseUnavailable } from '../errors.ts'

/** How long a connection waits for the writer of another process. */
const busyTimeoutMilliseconds = 5_000
/**
 * The page cache of a connection: a quarter of the driver's default. With twice as much, lists and creates
 * cost the same, and reading a row again takes 5.5 µs instead of 6, because the system caches the file's
 * pages as well.
 */
const cacheKibibytes = 4_000

/**
 * For a new file; an existing one keeps its size. A create changes some twelve pages, each copied once for
 * its statement and once into the log: with 4 KiB it takes a fifth longer, and only long scans are faster.
 */
const pageBytes = 2_048
/**
 * Pages in the write-ahead log before it is moved into the file. A page that changes often is then moved
 * once: a create writes 11 KB to the disk, against 25 KB with SQLite's default of 1,000 pages.
 */
const checkpointPages = 16_000

/**
 * The one writing connection of a process. WAL with `synchronous=FULL`: once a commit returns, it is on disk.
 */
export function openWritable(file: string): Sqlite.Database {
  const connection = open(file, { readonly: false })
  connection.pragma(`page_size = ${pageBytes}`)
  connection.pragma('journal_mode = WAL')
  connection.pragma('synchronous = FULL')
  connection.pragma('foreign_keys = ON')
  connection.pragma(`wal_autocheckpoint = ${checkpointPages}`)
  return connection
}

/** A connection that sees only committed data and cannot change anything. */
export function openReadOnly(file: string): Sqlite.Database {
  const connection = open(file, { readonly: true })
  connection.pragma('query_only = ON')
  return connection
}

/**
 * Returns a check that throws `DatabaseUnavailable` once the path leads to no file, or to a different file.
 * SQLite itself would keep writing to a file that was removed or replaced, and lose those commits when its
 * last connection closes.
 */
export function watchPlace(file: string): () => void {
  const opened = statSync(file)
  return () => {
    const found = statOf(file)
    if (found === undefined) throw new DatabaseUnavailable('the database file is gone')
    if (found.ino !== opened.ino || found.dev !== opened.dev) {
      throw new DatabaseUnavailable('another file is in the place of the database')
    }
  }
}

function statOf(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/**
 * After only reads, the last connection was a read-only one, which leaves the files of the write-ahead log
 * behind, owned by this account. A writable connection moves them into the file. If it cannot, nothing is
 * lost.
 */
export function removeLog(file: string, assertInPlace: () => void = () => undefined): void {
  try {
    assertInPlace()
    if (existsSync(`${file}-wal`)) openWritable(file).close()
  } catch {}
}

/** How long a rewriting waits for the writer of another process, and for readers of the log. */
const rewriteTimeoutMilliseconds = 60_000

/**
 * Copies what is there over everything that was there, and empties the write-ahead log. Returns a sentence
 * if readers used the log for too long.
 */
export function rewriteFile(file: string): string | undefined {
  const connection = openWritable(file)
  try {
    connection.pragma(`busy_timeout = ${rewriteTimeoutMilliseconds}`)
    connection.exec('vacuum')
    const [{ busy }] = connection.pragma('wal_checkpoint(truncate)') as [{ busy: number }]
    return busy === 0
      ? undefined
      : `${file}-wal still has it, because a process reads: run the command again.`
  } finally {
    connection.close()
  }
}

/** Says in one line why a file cannot be the database, before SQLite says it less clearly. */
export function prepareFile(file: string): void {
  try {
    if (existsSync(file)) {
      if (!statSync(file).isFile()) throw new DatabaseRefused(`DATABASE_URL: ${file} is not a file`)
    } else {
      mkdirSync(dirname(file), { recursive: true })
      // The file will hold password hashes, so only its owner may read it. SQLite gives its other files the
      // same mode.
      closeSync(openSync(file, 'a', 0o600))
    }
  } catch (error) {
    if (error instanceof DatabaseRefused) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new DatabaseRefused(`DATABASE_URL: ${file} cannot be used: ${reason}${owners(file)}`, {
      cause: error,
    })
  }
}

/** Like `prepareFile`, but refuses a file that does not exist. */
export function requireFile(file: string): void {
  if (!existsSync(file)) throw new DatabaseRefused(`DATABASE_URL: there is no database at ${file}`)
  prepareFile(file)
}

/**
 * The path where the database can be read without writing to its folder, and how to clean up. SQLite needs
 * `-wal` and `-shm`, and creates them if they are missing. If it may not, nobody has the database open, so a
 * copy in the temporary folder is as good.
 */
export function placeToRead(file: string): { place: string; leave: () => void } {
  const isOpen = existsSync(`${file}-wal`) && existsSync(`${file}-shm`)
  if (isOpen || isWritable(file)) return { place: file, leave: () => undefined }
  let folder: string | undefined
  const leave = () => folder && rmSync(folder, { recursive: true })
  try {
    folder = mkdtempSync(join(tmpdir(), 'countersign-'))
    const place = join(folder, 'copy.db')
    copyFileSync(file, place, constants.COPYFILE_FICLONE)
    if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${place}-wal`)
    return { place, leave }
  } catch (error) {
    leave()
    const reason = error instanceof Error ? error.message : String(error)
    throw new DatabaseRefused(`DATABASE_URL: ${file} cannot be copied for reading: ${reason}`, {
      cause: error,
    })
  }
}

/** Whether this process may write the file and its folder. */
export function isWritable(file: string): boolean {
  try {
    for (const path of [file, dirname(file)]) accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** ` (owned by root, this process is countersign)`, for the file or else its folder, or nothing. */
export function owners(file: string): string {
  const uid = process.geteuid?.()
  const other = [file, dirname(file)].map((path) => statOf(path)?.uid).find((owner) => owner !== undefined)
  if (uid === undefined || other === undefined || other === uid) return ''
  return ` (owned by ${accountName(other)}, this process is ${accountName(uid)})`
}

function accountName(uid: number): string {
  try {
    const accounts = readFileSync('/etc/passwd', 'utf8').split('\n')
    const fields = accounts.map((line) => line.split(':')).find(([, , id]) => id === String(uid))
    return fields?.[0] ?? `account ${uid}`
  } catch {
    return `account ${uid}`
  }
}

/** One line for the operator. */
export function explain(error: unknown, file: string): unknown {
  if (!(error instanceof DatabaseUnavailable)) return error
  return new DatabaseRefused(`DATABASE_URL: ${file} ${whatIsWrong(error, file)}${owners(file)}`, {
    cause: error,
  })
}

/** Continues a sentence that begins with the name of the file. */
function whatIsWrong({ message, cause }: DatabaseUnavailable, file: string): string {
  const code = cause instanceof Sqlite.SqliteError ? cause.code : ''
  if (code.startsWith('SQLITE_BUSY')) {
    return 'is being written by another process, by a migration perhaps: start again once that has ended'
  }
  const mayNotWrite = code === 'SQLITE_CANTOPEN' && !isWritable(file)
  if (code.startsWith('SQLITE_READONLY') || mayNotWrite) return 'may not be written'
  return `cannot be used: ${message}`
}

function open(file: string, options: { readonly: boolean }): Sqlite.Database {
  // A thread that restarts must not create an empty database if the file is gone.
  const connection = new Sqlite(file, { ...options, fileMustExist: true, timeout: busyTimeoutMilliseconds })
  connection.pragma(`cache_size = -${cacheKibibytes}`)
  return connection
}
