import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { makeIfStale } from './built-folder.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Makes server/dist/ (the service and what it imports, in a few files of JavaScript), unless it was made from these very
 * sources. Returns whether anything was made.
 */
export function buildServerIfStale(): Promise<boolean> {
  return makeIfStale(join(root, 'server', 'dist'), sources(), (target) =>
    promisify(execFile)(process.execPath, [join(root, 'tools', 'bundle-server.ts'), target]),
  )
}

function sources(): string[] {
  return globSync('{server/**/*.ts,tools/bundle-server.ts,package-lock.json}', { cwd: root })
    .sort()
    .map((path) => join(root, path))
}
