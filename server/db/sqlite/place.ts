/** Where a service may have its SQLite file: at a place that keeps it, and alone. */
import { readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import Sqlite from 'better-sqlite3'
import { DatabaseRefused } from '../errors.ts'
import { translateErrors } from './driver.ts'
import { explain, prepareFile } from './files.ts'

/**
 * File systems of a network or in user space. Some lose what was flushed, and none shares memory and locks
 * between machines, as SQLite needs.
 */
const remote =
  /^(?:fuse(?:blk)?(?:\..*)?|nfs\d?|cifs|smb\w*|9p|virtiofs|ceph|glusterfs|lustre|beegfs|gpfs|afs|coda|ncpfs|orangefs|ocfs2|gfs2|vboxsf|vmhgfs|prl_fs|fakeowner|grpcfuse|osxfs|drvfs)$/

/**
 * Why acknowledged writes could get lost at this place, in one sentence; undefined where nothing is known
 * against it. `mounts` has the form of /proc/self/mountinfo (proc_pid_mountinfo(5)).
 */
export function faultOfPlace(file: string, mounts = ownMounts()): string | undefined {
  const path = realPath(file)
  const mount = mountOf(path, mounts)
  const otherwise = 'or set DATABASE_PLACE_CHECK=off'
  if (mount?.point === path) {
    return `DATABASE_URL: ${file} is mounted without its folder, so the newest writes, which are in ${file}-wal, would be lost with the container: mount its folder instead, ${otherwise}`
  }
  if (mount === undefined || !remote.test(mount.type)) return undefined
  return `DATABASE_URL: ${file} is on a file system of type ${mount.type}, where acknowledged writes can get lost: use a local disk or PostgreSQL, ${otherwise}`
}

/** Only Linux has this file. */
function ownMounts(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8')
  } catch {
    return ''
  }
}

/**
 * Without symbolic links, whether or not the file that they lead to exists. A `..` counts from where a link
 * before it leads.
 */
function realPath(path: string, linksLeft = 40): string {
  try {
    return realpathSync.native(path)
  } catch {
    const here = join(realPath(dirname(path)), basename(path))
    const target = linksLeft > 0 ? targetOf(here) : undefined
    return target === undefined ? here : realPath(resolve(dirname(here), target), linksLeft - 1)
  }
}

function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link)
  } catch {
    return undefined
  }
}

/** The mount that has the path: the innermost one, and the last of several at one point. */
function mountOf(path: string, mounts: string): { point: string; type: string } | undefined {
  const points = mounts.split('\n').flatMap((line) => {
    const [, , , , point] = line.split(' ')
    const [type] = line.split(' - ')[1]?.split(' ') ?? []
    if (point === undefined || type === undefined) return []
    const unescaped = point.replaceAll(/\\([0-7]{3})/g, (_, octal) =>
      String.fromCharCode(Number.parseInt(octal, 8)),
    )
    return [{ point: unescaped, type }]
  })
  return points
    .filter(({ point }) => path === point || path.startsWith(point.replace(/\/?$/, '/')))
    .reduce((found, next) => (next.point.length >= found.point.length ? next : found), {
      point: '',
      type: '',
    })
}

/** How long a service that starts waits for the one before it to end. */
const defaultPatienceMilliseconds = 5_000

/**
 * Makes this process the only service of the file until the returned function is called, or the process ends:
 * the lock belongs to the process, so none is left behind by one that was killed. Commands need no lock.
 */
export function claimFile(file: string, patienceMilliseconds = defaultPatienceMilliseconds): () => void {
  // A link may lead to no file yet; afterwards it would give another name for the lock.
  prepareFile(file)
  const lock = `${realPath(file)}-service`
  prepareFile(lock)
  const connection = translateErrors(() => new Sqlite(lock, { timeout: patienceMilliseconds }))
  try {
    // No second file next to the lock.
    connection.pragma('journal_mode = memory')
    connection.exec('begin exclusive')
    return () => connection.close()
  } catch (error) {
    connection.close()
    const isHeld = error instanceof Sqlite.SqliteError && error.code === 'SQLITE_BUSY'
    if (!isHeld) throw explain(error, lock)
    throw new DatabaseRefused(
      `DATABASE_URL: another service has ${file} open: end it first, or use PostgreSQL for several instances`,
    )
  }
}
