import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const web = fileURLToPath(new URL('.', import.meta.url))
const dist = join(web, 'dist')
const stamp = '.sources'

/**
 * Makes web/dist/, the web app as the service serves it, unless it is what the sources say already: hashed names, and
 * each text file beside its brotli and gzip forms. A build appears as a whole, also while several processes build at once.
 * Returns whether anything was made. Throws when vite is not installed (a production install) and something is stale.
 */
export async function buildWebIfStale(): Promise<boolean> {
  const sources = hashOfSources()
  const built = await readFile(join(dist, stamp), 'utf8').catch(() => undefined)
  if (built === sources) return false
  await build(sources)
  return true
}

/** Over everything that the result depends on: the app, how it is built, and the versions of its parts. */
function hashOfSources(): string {
  const hash = createHash('sha256')
  const files = [
    ...globSync('{index.html,bundle.ts,vite.config.ts,src/**/*}', { cwd: web, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort(),
    fileURLToPath(new URL('../package-lock.json', import.meta.url)),
  ]
  for (const file of files)
    hash.update(relative(web, file)).update('\0').update(readFileSync(file)).update('\0')
  return hash.digest('hex')
}

/** In a process of its own: the bundler's memory and settings are none of the service's. */
async function build(sources: string): Promise<void> {
  const folder = await mkdtemp(join(web, '.dist-'))
  try {
    await promisify(execFile)(process.execPath, [join(web, 'bundle.ts'), folder])
    await writeFile(join(folder, stamp), sources)
    await replace(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Another process may be doing the same with the same result: then one of them wins. */
async function replace(folder: string): Promise<void> {
  const old = await mkdtemp(join(web, '.dist-'))
  try {
    await rename(dist, join(old, 'dist')).catch(ignoring('ENOENT'))
    await rename(folder, dist).catch(ignoring('ENOTEMPTY', 'EEXIST'))
  } finally {
    await rm(old, { recursive: true, force: true })
  }
}

function ignoring(...codes: string[]): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    if (!codes.includes(error.code ?? '')) throw error
  }
}
