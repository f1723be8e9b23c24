import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  constants,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { fileOf } from './server.ts'

const main = fileOf('../server/main.ts')
/** Data sets are kept here from run to run; it may be deleted at any time. */
export const dataFolder = fileOf('./.data')
/** The sources that determine the content of a data set. When one of them changes, a new data set is made. */
const sources = ['server/cli/maintenance.ts', 'server/db/sqlite/{files,schema}.ts', 'server/orders/fold.ts']

/** A copy of a SQLite database with that many orders, which the service's `seed` makes the first time. */
export async function sqliteCopy(count: number, target: string): Promise<string> {
  mkdirSync(dataFolder, { recursive: true })
  const kept = join(dataFolder, `orders-${count}-${versionOfSources()}.db`)
  if (!existsSync(kept)) {
    const unfinished = `${kept}.unfinished`
    for (const end of ['', '-wal', '-shm']) rmSync(unfinished + end, { force: true })
    await seed(`file:${unfinished}`, count)
    renameSync(unfinished, kept)
  }
  copyFileSync(kept, target, constants.COPYFILE_FICLONE)
  return `file:${target}`
}

export async function seed(databaseUrl: string, count: number): Promise<void> {
  await promisify(execFile)(process.execPath, [main, 'seed', '--orders', String(count)], {
    env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl },
    cwd: dataFolder,
  })
}

function versionOfSources(): string {
  const hash = createHash('sha256')
  const root = fileOf('..')
  for (const path of sources.flatMap((pattern) => globSync(pattern, { cwd: root })).sort()) {
    hash.update(readFileSync(join(root, path)))
  }
  return hash.digest('hex').slice(0, 8)
}

export interface Postgres {
  url: string
  end(): Promise<void>
}

/** A durable PostgreSQL from npm, as in the tests. It ends with this process. */
export async function startPostgres(): Promise<Postgres> {
  const guard = spawn(process.execPath, [fileOf('../test/support/postgres-guard.ts'), '--durable'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exit = once(guard, 'exit')
  const line = once(createInterface({ input: guard.stdout }), 'line')
  const failed = exit.then(() => {
    throw new Error('PostgreSQL did not start')
  })
  const [url] = (await Promise.race([line, failed])) as [string]
  failed.catch(() => undefined)
  return {
    url,
    async end() {
      guard.stdin.end()
      await exit
    },
  }
}
