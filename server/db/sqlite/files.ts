import { closeSync, existsSync, mkdirSync, openSync, readFileSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import Sqlite from 'better-sqlite3'
import { DatabaseRefused, DatabaseUnavailable } from '../errors.ts'

/** How long a connection waits for the writer of another process. */
const busyTimeoutMilliseconds = 5_000
/**
 * Pages that a connection keeps, at most: a quarter of what the driver takes by itself. With twice as many, lists and
 * creates cost the same and a row that was just read 5.5 µs instead of 6, since the system keeps the file's pages too.
 */
const cacheKibibytes = 4_000

/**
 * Of a new file; one that was made with another size keeps it. A create changes some twelve pages, each copied once for
 * its statement and once into the log: with 4 KiB it takes a fifth more, and only long scans take less.
 */
const pageBytes = 2_048
/**
 * Pages of the write-ahead log before it is moved into the file. A page that changes often is then moved once: a create
 * writes 11 KB to the disk, and 25 with the 1,000 pages that SQLite takes by itself.
 */
const checkpointPages = 16_000

/** The one writing connection of a process. WAL with `synchronous=FULL`: a commit that returned is on disk. */
export function openWritable(file: string): Sqlite.Database {
  const connection = open(file, { readonly: false })
  connection.pragma(`page_size = ${pageBytes}`)
  connection.pragma('journal_mode = WAL')
  connection.pragma('synchronous = FULL')
  connection.pragma('foreign_keys = ON')
  connection.pragma(`wal_autocheckpoint = ${checkpointPages}`)
  return connection
}

/** A connection that sees committed data only and can change nothing. */
export function openReadOnly(file: string): Sqlite.Database {
  const connection = open(file, { readonly: true })
  connection.pragma('query_only = ON')
  return connection
}

/**
 * Returns a check that throws `DatabaseUnavailable` once the path leads to no file or to another one than now. SQLite
 * itself goes on writing to a file that was removed or replaced: what it commits there is lost with its last
 * connection.
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

/** Says in one line what is wrong with a file that cannot be the database, before SQLite says it in its own way. */
export function prepareFile(file: string): void {
  try {
    if (existsSync(file)) {
      if (!statSync(file).isFile()) throw new DatabaseRefused(`DATABASE_URL: ${file} is not a file`)
    } else {
      mkdirSync(dirname(file), { recursive: true })
      // It will hold password hashes: for its owner only. SQLite gives the files beside it the same mode.
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

/** ` (owned by root, this process is countersign)` where it is so of the file or else of its folder, else nothing. */
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

function open(file: string, options: { readonly: boolean }): Sqlite.Database {
  // A thread that is started again must not make an empty database where the file is gone.
  const connection = new Sqlite(file, { ...options, fileMustExist: true, timeout: busyTimeoutMilliseconds })
  connection.pragma(`cache_size = -${cacheKibibytes}`)
  return connection
}
