import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { build } from 'vite'
import { makePages } from './pages.ts'

/**
 * Makes the web app, the page /verify and the pages of documents in the folder, each text file with its
 * brotli and gzip forms.
 */
const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('name a folder')

await build({
  root: fileURLToPath(new URL('.', import.meta.url)),
  logLevel: 'error',
  build: { outDir: folder, emptyOutDir: true },
})
const verify = fileURLToPath(new URL('../verify/build.ts', import.meta.url))
await promisify(execFile)(process.execPath, [verify, folder])
makePages(folder)
const files = globSync('**/*.{html,js,css,svg}', { cwd: folder })
await Promise.all(files.map((file) => compress(join(folder, file))))

async function compress(file: string): Promise<void> {
  const content = await readFile(file)
  const brotli = await promisify(brotliCompress)(content, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
    },
  })
  await writeFile(`${file}.br`, brotli)
  await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }))
}
