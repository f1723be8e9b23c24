// engine: none
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'

const server = fileURLToPath(new URL('../../server/', import.meta.url))

/**
 * A result of all columns. PostgreSQL refuses such a prepared statement once a later version has added a
 * column. A query in parentheses may have all columns.
 */
const everyColumn =
  /\.(?:selectAll|returningAll)\(|(?<!\(\s*)\bselect\s+(?:\w+\.)?\*|\breturning\s+(?:\w+\.)?\*/gi

it('every statement of the service names the columns of its result', () => {
  const found = globSync('**/*.ts', { cwd: server }).flatMap((file) =>
    [...readFileSync(server + file, 'utf8').matchAll(everyColumn)].map(([text]) => `${file}: ${text}`),
  )
  assert.deepEqual(found, [])
})
