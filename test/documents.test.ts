// engine: none
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

describe('docs/decisions', () => {
  const files = globSync('[0-9]*.md', { cwd: join(root, 'docs/decisions') }).sort()

  it('are numbered consecutively', () => {
    assert.deepEqual(
      files.map((file) => Number(file.slice(0, 4))),
      files.map((_, index) => index + 1),
    )
  })

  it('are each in the index, which marks the same ones as superseded', () => {
    const lines = [...read('docs/decisions/README.md').matchAll(/^- \[(\d+)\]\((.*?)\): (.*)$/gm)]
    assert.deepEqual(lines.map(([, , file = '']) => file).sort(), files)
    for (const [, number, file = '', text = ''] of lines) {
      const page = read(`docs/decisions/${file}`)
      assert.ok(page.startsWith(`# ${number}. `), file)
      assert.equal(/^\*\*Superseded\b/m.test(page), text.includes('Superseded'), file)
    }
  })
})

/** The comment with which a file begins, as one line. */
function headOf(path: string): string {
  const [, comment = ''] = /^\/\*\*([\s\S]*?)\*\//.exec(read(path)) ?? []
  return comment.replace(/\s*\n\s*\*?\s*/g, ' ').trim()
}

describe('docs/architecture.md', () => {
  const [, section = ''] = read('docs/architecture.md').split('<!-- invariants -->')
  const [table = ''] = section.split('\n## ')
  const rows = [...table.matchAll(/^\| `(.+?)` \| (.+?) \|$/gm)].map(([, path = '', quote = '']) => ({
    path,
    quote,
  }))

  it('quotes what each door of the server says about its folder', () => {
    const doors = globSync('server/**/*.ts', { cwd: root }).filter((path) => {
      const [file, folder] = path.split('/').toReversed()
      return file === `${folder}.ts`
    })
    assert.ok(doors.length > 10)
    assert.deepEqual(rows.map(({ path }) => path).sort(), doors.sort())
  })

  it('quotes whole sentences', () => {
    for (const { path, quote } of rows) {
      assert.ok(quote.endsWith('.') && `${headOf(path)} `.startsWith(`${quote} `), `${path}: ${headOf(path)}`)
    }
  })
})

describe('a path in a comment or a document', () => {
  const listed = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0')
  const files = listed.filter((file) => file !== '' && existsSync(join(root, file)))
  /** Every end of the path of a file or folder: comments leave out what a reader knows. */
  const ends = new Set(files.flatMap((file) => endsOf(file).flatMap(beginningsOf)))
  /** Named, but made by a build, or by a reader of the page. */
  const isMade =
    /^(?:node_modules|(?:web\/)?dist|npm-shrinkwrap\.json|x\.ts|receive\.mjs|.*\bal2023\/lib|\.vscode\/mcp\.json|(?:.*\/)?(?:(?:jwks|receipt)\.json|(?:problems|verify)\.html|signatures\.py))\b/

  it('leads to a file', () => {
    const named = files.filter(isRead).flatMap((file) => pathsIn(file, read(file)))
    assert.ok(named.length > 500, String(named.length))
    const strays = named.filter(({ path }) => !ends.has(path) && !isMade.test(path))
    assert.deepEqual(
      strays.map(({ file, path }) => `${file} names ${path}`),
      [],
    )
  })

  it('is found in both', () => {
    const comment = "/** As in orders/a.ts. */ const path = 'b.ts' // and web/cd/ has"
    assert.deepEqual(pathsIn('x.ts', comment), [
      { file: 'x.ts', path: 'orders/a.ts' },
      { file: 'x.ts', path: 'web/cd' },
    ])
    assert.deepEqual(pathsIn('x.md', '`../d.md`\n```\ne.ts\n```\nhttps://example.com/f.md'), [
      { file: 'x.md', path: 'd.md' },
    ])
  })
})

/** Generated files, what is over, and this file name others. */
function isRead(file: string): boolean {
  if (/^(?:CHANGELOG\.md|client\/src\/schema\.ts|test\/documents\.test\.ts)$/.test(file)) return false
  if (/^docs\/decisions\/0/.test(file) && /^\*\*Superseded\b/m.test(read(file))) return false
  return /\.(?:tsx?|mjs|cjs|css|md)$/.test(file)
}

function endsOf(path: string): string[] {
  const parts = path.split('/')
  return parts.map((_, index) => parts.slice(index).join('/'))
}

function beginningsOf(path: string): string[] {
  const parts = path.split('/')
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** Files by their usual endings, and folders with a slash at the end. */
function pathsIn(file: string, text: string): { file: string; path: string }[] {
  const words = file.endsWith('.md')
    ? text.replaceAll(/^```.*?^```/gms, '')
    : [...text.matchAll(/\/\*.*?\*\/|(?<![:\\'"`\w])\/\/[^\n]*/gs)].join('\n')
  const path =
    /(?<![\w@/.:$<{-])(?:\.{1,2}\/)*((?:[\w.-]+\/)*[\w-][\w.-]*\.(?:tsx?|mjs|cjs|css|html|md|json|py)|(?:[\w.-]{2,}\/)+)(?![\w/-])/g
  return [...words.matchAll(path)].map(([, found = '']) => ({ file, path: found.replace(/\/$/, '') }))
}
