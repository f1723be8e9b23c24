// engine: none
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const generated = ['client/src/schema.ts', 'client/src/facts.ts']
const sources = execFileSync('git', ['ls-files', 'server', 'client/src', 'web/src'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => /\.tsx?$/.test(path) && !generated.includes(path))
  .filter((path) => existsSync(join(root, path)))
  .map((path) => ({ path, text: read(path) }))

/** The recipes of a page: what each mirrors, and the files that its steps name. */
function recipesOf(page: string) {
  return page
    .split('\n## ')
    .slice(1)
    .map((section) => {
      const [title = ''] = section.split('\n')
      const [, mirror = ''] = /<!-- mirror: (.+?) -->/.exec(section) ?? []
      const paths = [...section.matchAll(/`((?:server|client|web|test)\/[\w./-]+\.tsx?)`/g)].map(
        ([, path = '']) => path,
      )
      return { title, mirror: new RegExp(mirror), paths }
    })
}

/** Files that have what a recipe mirrors but that no step names, and named files that do not have it. */
function faultsOf({ title, mirror, paths }: ReturnType<typeof recipesOf>[number]): string[] {
  const having = sources.filter(({ text }) => mirror.test(text)).map(({ path }) => path)
  const named = paths.filter((path) => !path.startsWith('test/'))
  const missing = having.filter((path) => !named.includes(path)).map((path) => `${title}: ${path} is missing`)
  const idle = named
    .filter((path) => !having.includes(path))
    .map((path) => `${title}: ${path} has nothing of it`)
  const lost = paths
    .filter((path) => !existsSync(join(root, path)))
    .map((path) => `${title}: no file ${path}`)
  return [...missing, ...idle, ...lost]
}

describe('docs/recipes.md', () => {
  const page = read('docs/recipes.md')

  it('names every file that mentions what it mirrors, and no other', () => {
    const recipes = recipesOf(page)
    assert.equal(recipes.length, 9)
    assert.deepEqual(recipes.flatMap(faultsOf), [])
  })

  it('fails this test if it lacks a step, or leads nowhere', () => {
    const without = page.replaceAll('`server/serve.ts`', '`server/clock.ts`')
    const faults = recipesOf(without)
      .filter(({ title }) => title === 'A setting')
      .flatMap(faultsOf)
    assert.deepEqual(faults, [
      'A setting: server/serve.ts is missing',
      'A setting: server/clock.ts has nothing of it',
    ])
  })
})
