// engine: none
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
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
