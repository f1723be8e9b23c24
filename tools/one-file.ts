import { existsSync } from 'node:fs'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Bundles Kysely's modules into one file next to them, where server/db/kysely.ts looks for it. No statement
 * is left out. `npm ci`, or another version of the package, removes the file.
 */
export async function makeKyselyOneFile(): Promise<void> {
  const entry = fileURLToPath(import.meta.resolve('kysely'))
  const folder = join(entry, '..')
  const name = 'one-file.js'
  if (existsSync(join(folder, name))) return
  // Imported only here, because a production install has no bundler.
  const { build } = await import('vite')
  const target = await mkdtemp(join(folder, '.one-file-'))
  try {
    await build({
      configFile: false,
      logLevel: 'warn',
      build: {
        ssr: entry,
        outDir: target,
        minify: false,
        target: 'esnext',
        rolldownOptions: { treeshake: false, output: { entryFileNames: name } },
      },
    })
    // Replaces the file as a whole, even if several processes make it at once.
    await rename(join(target, name), join(folder, name))
  } finally {
    await rm(target, { recursive: true, force: true })
  }
}
