import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'vite'

/**
 * Bundles the service into the named folder: one file for each entry, and what they share. Names and lines are kept for
 * stack traces. Packages with native parts stay outside, and so does what only development needs.
 */
const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('name a folder')

const server = fileURLToPath(new URL('../server', import.meta.url))
const entries = ['main', 'writer', 'reader']
const outside = ['better-sqlite3', '@node-rs/argon2', 'pino-pretty', '@scalar/fastify-api-reference']

/** The entries of threads are named by their sources. */
const entriesOfThreads: Plugin = {
  name: 'entries-of-threads',
  transform: (code) => code.replaceAll(/(new URL\(["']\.\/(?:writer|reader))\.ts(["'])/g, '$1.js$2'),
}

await build({
  root: server,
  configFile: false,
  logLevel: 'error',
  plugins: [entriesOfThreads],
  ssr: { noExternal: true, external: outside },
  build: {
    ssr: true,
    target: 'esnext',
    outDir: folder,
    emptyOutDir: true,
    minify: false,
    rolldownOptions: {
      input: Object.fromEntries(entries.map((name) => [name, join(server, `${name}.ts`)])),
      external: /\/web\/build\.ts$/,
      output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    },
  },
})
