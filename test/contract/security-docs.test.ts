// engine: none
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** Paths in backticks: in a folder of the repository, or a document at its top. */
function citedFiles(document: string): string[] {
  const pattern = /`((?:bench|docs|server|test|tools|web)(?:\/[\w./-]+)?|[A-Z]+\.md)`/g
  return [...document.matchAll(pattern)].map(([, path = '']) => path)
}

/** Titles in double quotes, with the test file named before them; `file` is '' if there is none. */
function citedTitles(document: string): { file: string; title: string }[] {
  const citation = /`(test\/[\w./-]+\.test\.ts)`((?:,? "[^"]*")+)/g
  const cited = [...document.matchAll(citation)].flatMap(([, file = '', titles = '']) =>
    quoted(titles).map((title) => ({ file, title })),
  )
  const astray = quoted(document.replace(citation, ''))
  return [...cited, ...astray.map((title) => ({ file: '', title }))]
}

function quoted(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"/g)].map(([, title = '']) => title)
}

/** The titles of tests and of groups of tests in the file. */
function titlesIn(path: string): Set<string> {
  const pattern = /\b(?:describe|it|test)\(\s*(?:'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`)/g
  return new Set([...read(path).matchAll(pattern)].map(([, plain, template]) => plain ?? template ?? ''))
}

/** Things that a document cites although they do not exist. */
function faultsOf(document: string): string[] {
  const text = document.replace(/\s+/g, ' ')
  const missing = citedFiles(text).filter((path) => !existsSync(join(root, path)))
  const unknown = citedTitles(text).filter(
    ({ file, title }) => file === '' || !existsSync(join(root, file)) || !titlesIn(file).has(title),
  )
  return [...missing, ...unknown.map(({ file, title }) => `${file} "${title}"`)]
}

interface Requirement {
  number: string
  state: string
}

function assessed(document: string): Requirement[] {
  const row = /^\| (\d+\.\d+\.\d+) \| [12] \| [^|]+ \| ([^|]+) \| [^|]+ \|$/gm
  return [...document.matchAll(row)].map(([, number = '', state = '']) => ({ number, state }))
}

const documents = ['SECURITY.md', 'docs/asvs.md']

describe('the documents on security', () => {
  for (const path of documents) {
    it(`cite files and tests that exist: ${path}`, () => {
      const document = read(path)
      assert.ok(citedFiles(document).length > 20)
      assert.ok(citedTitles(document.replace(/\s+/g, ' ')).length > 20)
      assert.deepEqual(faultsOf(document), [])
    })
  }

  it('fail this test if they cite something that does not exist', () => {
    assert.deepEqual(faultsOf('`server/none.ts` and `test/layering.test.ts` "imports"'), ['server/none.ts'])
    const unknown = '`test/layering.test.ts` "imports", "are all\nlost"'
    assert.deepEqual(faultsOf(unknown), ['test/layering.test.ts "are all lost"'])
    assert.deepEqual(faultsOf('as "a title" says'), [' "a title"'])
  })
})

describe('the assessment by ASVS', () => {
  const [body = '', notApplicable = ''] = read('docs/asvs.md').split('## Not applicable')
  const requirements = assessed(body)
  const others = [...notApplicable.matchAll(/^\| [^|]+ \| ([\d., ]+) \|$/gm)].flatMap(([, numbers = '']) =>
    numbers.split(', '),
  )

  it('has each requirement of levels 1 and 2 once', () => {
    const numbers = [...requirements.map(({ number }) => number), ...others]
    assert.equal(new Set(numbers).size, numbers.length)
    // The standard has 70 requirements of level 1 and 183 of level 2.
    assert.equal(numbers.length, 253)
  })

  it('counts them correctly', () => {
    const count = (state: string) => requirements.filter((one) => one.state === state).length
    const expected = {
      met: count('met'),
      partly: count('partly'),
      'not met': count('not met'),
      "the operator's": count("the operator's"),
      'concern the service': requirements.length,
      'not applicable': others.length,
    }
    for (const [state, number] of Object.entries(expected)) {
      assert.ok(body.includes(`| ${state} | ${number} |\n`), `${state}: ${number}`)
    }
    const states = ['met', 'partly', 'not met', "the operator's"]
    assert.equal(
      states.reduce((sum, state) => sum + count(state), 0),
      requirements.length,
    )
  })

  it('declares every gap at the top', () => {
    const [, gaps = ''] = body.split('## Declared gaps')
    const [declared = ''] = gaps.split('\n## ')
    for (const { number, state } of requirements) {
      const isGap = state === 'not met' || state === 'partly'
      assert.equal(new RegExp(`\\b${number.replaceAll('.', '\\.')}\\b`).test(declared), isGap, number)
    }
  })
})
