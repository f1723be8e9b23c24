import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const web = fileURLToPath(new URL('.', import.meta.url))
const folder = join(web, 'dist')
const stamp = '.sources'

/**
 * Makes web/dist/, the web app as the service serves it, if the sources have changed: hashed names, and each
 * text file with its brotli and gzip forms. The folder appears as a whole, even when several processes make
 * it at once. Calls `onStale` before it begins, and returns whether anything was made. Throws if vite is not
 * installed (a production install) and something is stale.
 */
export async function buildWebIfStale(onStale?: () => void): Promise<boolean> {
  const hash = hashOf(sources())
  const made = await readFile(join(folder, stamp), 'utf8').catch(() => undefined)
  if (made === hash) return false
  onStale?.()
  const target = await mkdtemp(join(web, '.dist-'))
  try {
    // In a separate process: the bundler's memory and settings stay apart from the service's.
    await promisify(execFile)(process.execPath, [join(web, 'bundle.ts'), target])
    // The account that runs the service need not be the one that builds.
    await chmod(target, 0o755)
    await writeFile(join(target, stamp), hash)
    await replace(target)
  } finally {
    await rm(target, { recursive: true, force: true })
  }
  return true
}

/** Everything that the result depends on: the app, how it is built, and the versions of its parts. */
function sources(): string[] {
  return [
    ...globSync(
      '{index.html,bundle.ts,pages.ts,vite.config.ts,src/**/*,../{client/src,proof,rules,verify}/*}',
      {
        cwd: web,
        withFileTypes: true,
      },
    )
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort(),
    ...['../docs/auditing.md', '../docs/problems.md', '../package.json', '../package-lock.json'].map((path) =>
      fileURLToPath(new URL(path, import.meta.url)),
    ),
  ]
}

function hashOf(files: string[]): string {
  const hash = createHash('sha256')
  for (const file of files) {
    hash.update(relative(web, file)).update('\0').update(readFileSync(file)).update('\0')
  }
  return hash.digest('hex')
}

/** If another process does the same at the same time, one of them wins; the result is the same. */
async function replace(target: string): Promise<void> {
  const old = await mkdtemp(join(web, '.dist-'))
  try {
    await rename(folder, join(old, 'dist')).catch(ignoring('ENOENT'))
    await rename(target, folder).catch(ignoring('ENOTEMPTY', 'EEXIST'))
  } finally {
    await rm(old, { recursive: true, force: true })
  }
}

function ignoring(...codes: string[]): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    if (!codes.includes(error.code ?? '')) throw error
  }
}
