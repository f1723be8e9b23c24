import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const stamp = '.sources'

/**
 * Makes `folder` by `make`, unless it was made from these very sources. It appears as a whole, even when several
 * processes make it at once. Returns whether anything was made.
 */
export async function makeIfStale(
  folder: string,
  sources: string[],
  make: (target: string) => Promise<unknown>,
): Promise<boolean> {
  const hash = hashOf(sources)
  const made = await readFile(join(folder, stamp), 'utf8').catch(() => undefined)
  if (made === hash) return false
  const target = await mkdtemp(join(dirname(folder), '.dist-'))
  try {
    await make(target)
    // The account of the service need not be the one that builds.
    await chmod(target, 0o755)
    await writeFile(join(target, stamp), hash)
    await replace(folder, target)
  } finally {
    await rm(target, { recursive: true, force: true })
  }
  return true
}

function hashOf(files: string[]): string {
  const hash = createHash('sha256')
  for (const file of files) {
    hash.update(relative(root, file)).update('\0').update(readFileSync(file)).update('\0')
  }
  return hash.digest('hex')
}

/** When another process does the same at the same time, one of them wins; the result is the same. */
async function replace(folder: string, target: string): Promise<void> {
  const old = await mkdtemp(join(dirname(folder), '.dist-'))
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
