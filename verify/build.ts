import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Rolldown } from 'vite'

const source = fileURLToPath(new URL('.', import.meta.url))

/**
 * Makes verify.html in the folder: one file with its script and style inside, each allowed by its hash, so
 * that it works from a disk too. Its policy stands in the file; the service repeats it as a header.
 */
const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('name a folder')

const { script, style } = await bundle()
const policy = [
  "default-src 'none'",
  `script-src ${hashOf(script)}`,
  `style-src ${hashOf(style)}`,
  'img-src data:',
  // The keys of the log of the service that it comes from. A page on a disk has no such origin.
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')
const head = `<meta http-equiv="Content-Security-Policy" content="${policy}" />`
const page = readFileSync(join(source, 'page.html'), 'utf8')
  // Functions, because a replacement text would give `$&` a meaning.
  .replace('<meta charset="utf-8" />', (charset) => `${charset}\n    ${head}`)
  .replace('</head>', (end) => `  <style>${style}</style>\n  ${end}`)
  .replace('</body>', (end) => `  <script>${script}</script>\n  ${end}`)
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'verify.html'), page)

async function bundle(): Promise<{ script: string; style: string }> {
  const [built] = (await build({
    configFile: false,
    root: source,
    logLevel: 'error',
    build: {
      target: 'baseline-widely-available',
      write: false,
      lib: { entry: 'main.ts', formats: ['iife'], name: 'verify' },
    },
  })) as Rolldown.RolldownOutput[]
  const parts = built?.output.map((part) => (part.type === 'chunk' ? part.code : String(part.source))) ?? []
  const [script, style] = parts
  // The parser must find both as they were hashed.
  const isWhole = parts.length === 2 && !/\r|<\/(?:script|style)|<!--/i.test(parts.join())
  if (!isWhole || script === undefined || style === undefined) {
    throw new Error('the page /verify has to be one script and one style that can stand in a page')
  }
  return { script, style }
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
