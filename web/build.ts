import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { makeIfStale } from '../tools/built-folder.ts'

const web = fileURLToPath(new URL('.', import.meta.url))

/**
 * Makes web/dist/, the web app as the service serves it, unless it is what the sources say already: hashed names, and
 * each text file beside its brotli and gzip forms. Returns whether anything was made. Throws when vite is not installed
 * (a production install) and something is stale.
 */
export function buildWebIfStale(): Promise<boolean> {
  // In a process of its own: the bundler's memory and settings are none of the service's.
  return makeIfStale(join(web, 'dist'), sources(), (target) =>
    promisify(execFile)(process.execPath, [join(web, 'bundle.ts'), target]),
  )
}

/** Everything that the result depends on: the app, how it is built, and the versions of its parts. */
function sources(): string[] {
  return [
    ...globSync('{index.html,bundle.ts,vite.config.ts,src/**/*}', { cwd: web, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort(),
    ...['../server/orders/filter/lexer.ts', '../package-lock.json'].map((path) =>
      fileURLToPath(new URL(path, import.meta.url)),
    ),
  ]
}
