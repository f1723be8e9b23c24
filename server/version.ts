import { readFileSync } from 'node:fs'

/** Whether this is the package, which has JavaScript, and not the repository. */
export const isPackage = !import.meta.url.endsWith('.ts')

/** How a person calls the command line. */
export const program = isPackage ? 'countersign' : 'node server/main.ts'

/** The version of this installation, from package.json. */
export function readVersion(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version
}
