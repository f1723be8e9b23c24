import { chown, copyFile, mkdir, mkdtemp, readdir, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { connectTo, startPostgres } from './postgres.ts'

/**
 * PostgreSQL's low-level base backup, because the npm package has neither pg_dump nor pg_basebackup.
 * https://www.postgresql.org/docs/18/continuous-archiving.html#BACKUP-LOWLEVEL-BASE-BACKUP
 */
export interface BaseBackup {
  /** Holds the copy in `data`; the server's account owns it. */
  folder: string
  /** Programs of the copied server. */
  native: string
}

/**
 * Not copied: belongs to the running server, or is recreated at every start. For `pg_wal` see
 * `takeBaseBackup`.
 */
const leftOut = new Set([
  ...'postmaster.pid postmaster.opts pg_wal pg_replslot pg_dynshmem pg_notify pg_serial'.split(' '),
  ...'pg_snapshots pg_stat_tmp pg_subtrans'.split(' '),
])

/**
 * Copies a running server's files between pg_backup_start and pg_backup_stop, then the log written meanwhile
 * (which an archive would have kept). `onTablesCopied` is called between the tables and the rest. `onCopied`
 * is called right before the stop: what was committed by then is in the copy. The server must run on this
 * machine, with a superuser as role; from then on it keeps its log.
 */
export async function takeBaseBackup(
  url: string,
  { onTablesCopied, onCopied }: { onTablesCopied: () => Promise<void>; onCopied: () => void },
): Promise<BaseBackup> {
  const client = await connectTo(url)
  try {
    const { rows } = await client.query<{ data_directory: string }>('show data_directory')
    const source = rows[0]?.data_directory ?? ''
    const folder = await mkdtemp(join(tmpdir(), 'countersign-postgres-copy-'))
    const data = join(folder, 'data')
    const { uid, gid } = await stat(source)
    await chown(folder, uid, gid)
    const copy = new FolderCopy(uid, gid)
    await client.query("alter system set wal_keep_size = '1GB'")
    await client.query('select pg_reload_conf()')
    await client.query("select pg_backup_start('test', true)")
    await copy.take(join(source, 'base'), join(data, 'base'))
    // The control file is copied later and names this checkpoint, which the copied tables lack. Only
    // backup_label says from where the log must be replayed.
    await onTablesCopied()
    await client.query('checkpoint')
    await copy.take(source, data, new Set([...leftOut, 'base']))
    onCopied()
    const stopped = await client.query<{ labelfile: string }>(
      'select labelfile from pg_backup_stop(wait_for_archive => false)',
    )
    for (const name of leftOut) {
      if (!name.startsWith('postmaster')) await copy.makeFolder(join(data, name))
    }
    await copy.take(join(source, 'pg_wal'), join(data, 'pg_wal'))
    await copy.write(join(data, 'backup_label'), stopped.rows[0]?.labelfile ?? '')
    return { folder, native: join(dirname(source), 'native') }
  } finally {
    await client.end()
  }
}

/** Starts a second server from the copy, which is removed when it ends. */
export const startCopy = (copy: BaseBackup) => startPostgres({ durable: true, copy })

class FolderCopy {
  readonly #uid: number
  readonly #gid: number

  constructor(uid: number, gid: number) {
    this.#uid = uid
    this.#gid = gid
  }

  async take(from: string, to: string, except: ReadonlySet<string> = new Set()): Promise<void> {
    await this.makeFolder(to)
    for (const entry of await readdir(from, { withFileTypes: true })) {
      if (except.has(entry.name)) continue
      const [source, target] = [join(from, entry.name), join(to, entry.name)]
      if (entry.isDirectory()) await this.take(source, target)
      else await this.#takeFile(source, target)
    }
  }

  async makeFolder(path: string): Promise<void> {
    await mkdir(path, { recursive: true, mode: 0o700 })
    await chown(path, this.#uid, this.#gid)
  }

  async write(path: string, content: string): Promise<void> {
    await writeFile(path, content)
    await chown(path, this.#uid, this.#gid)
  }

  /** A file that the server removes in the meantime may be missing: the log replays its removal. */
  async #takeFile(from: string, to: string): Promise<void> {
    try {
      await copyFile(from, to)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
      throw error
    }
    await chown(to, this.#uid, this.#gid)
  }
}
