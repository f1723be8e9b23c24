// engine: none
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Words and openings that have to be read twice, each with what to write instead. */
const habits: [RegExp, string][] = [
  [/\bOf [a-z][^,.;:¤]*[.;:]/, 'a sentence has a subject first'],
  [
    /\bWho (?!changes|creates|decides|did|does|may|there)[a-z][^?.¤]{0,200}[.]/,
    'say which person: the creator, the caller, a user who',
  ],
  [/\b(?:by|for|from|of|only|than|to) who \w/i, 'say which person: the creator, the caller, a user who'],
  [/\bwhoever\b/i, 'say which person: anyone who'],
  [/\b(?:tells|told|telling)\b(?!.{0,50}\b(?:apart|from)\b)/i, 'reports, says, lists, shows'],
  [/\bin any case\b/i, 'ignoring case'],
  [/, for (?:he|it|nobody|she|that|there|these|they|those)\b/, 'because'],
  [/\banew\b/i, 'again, new; the button says Reload'],
  [/\bso many\b/i, 'the number, or: that many'],
  [/\bof (?:her|his|its|my|our|their|your) own\b/i, 'its own X, a separate X'],
  [/\bbeside\b/i, 'next to, besides, with'],
  [/\b(?:take|taken|takes|taking|took)(?: \w+)? home\b/i, 'say it plainly'],
  [/\btaken back\b/i, 'undone'],
  [/\bdeeds?\b/i, 'action'],
  [/\bportions?\b/i, 'batch'],
  [/№/, '#'],
  [/\bWhat [^?:*¤]{0,300}?\.(?![\w*])/, 'say the thing: The values to send, not What is sent'],
  [/\bthat there (?:are|is|was|were)\b/, 'existing, every, any'],
]

const patterns = habits.map(
  ([{ source, flags }, better]) =>
    [new RegExp(source.replaceAll(' ', '\\s+'), `${flags}gs`), better] as const,
)

/** A sign that occurs in no text. It stands where code was, and ends a sentence. */
const CODE = '¤'
const blank = (code: string) => code.replace(/\S/g, CODE)

/**
 * Comments, strings of several words, and lines of words between tags, each in its place. Everything else
 * is blanked.
 */
function prose(text: string, isPage: boolean): string {
  if (isPage)
    return text
      .replace(/^```.*?^```|`[^`]*`|"[^"]*"|\]\([^)\n]*\)|^#[^\n]*/gms, blank)
      .replace(/\n\n/g, `\n${CODE}`)
  const words =
    /\/\*.*?\*\/|(?<![:\\])\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|^[ \t]*\w[\w’',.:?!]*(?: [\w’',.:?!{}]+)+ [\w’',.:?!]+$/gms
  let out = ''
  let end = 0
  for (const { 0: found, index } of text.matchAll(words)) {
    const code = text.slice(end, index)
    // Two strings that form one sentence stay together.
    out += /^\s*\+\s*$/.test(code) ? code.replace('+', ' ') : blank(code)
    const isWord = /^['"`]/.test(found) && !/ /.test(found.trim())
    out += isWord
      ? blank(found)
      : found
          .replace(/^(\s*)(?:\/\/|\*\/?(?= |$)|\/\*\*?)/gm, (sign) => sign.replace(/\S/g, ' '))
          .replace(/^['"`]|['"`]$/g, ' ')
          .replace(/\$\{[^}]*\}/g, blank)
    end = index + found.length
  }
  return out + blank(text.slice(end))
}

/** `file:line: what: what to write` for each habit in the text. */
function findings(file: string, text: string): string[] {
  const found: string[] = []
  const isPage = file.endsWith('.md')
  const lineAt = (index: number) => text.slice(0, index).split('\n').length
  const read = prose(text, isPage)
  for (const [pattern, better] of patterns)
    for (const { 0: words, index } of read.matchAll(pattern))
      found.push(
        `${file}:${lineAt(index)}: "${read
          .slice(index, index + Math.max(words.length, 60))
          .split(CODE)[0]
          ?.replace(/\s+/g, ' ')
          .trim()}": ${better}`,
      )
  if (isPage) return found
  for (const { 1: word, index } of text.matchAll(
    /\b(?:it|describe|test)\(\s*['"`](who|whoever|(?:is|are) [2-5]\d\d) /g,
  ))
    found.push(`${file}:${lineAt(index)}: title opens with "${word}": a subject first; answers 404`)
  text.split('\n').forEach((line, index) => {
    if (line.length > 110 && /^\s*(?:\*|\/[/*]|\{\/\*)|[,;{)] \/\/ /.test(line))
      found.push(`${file}:${index + 1}: comment of ${line.length} columns: 110 at most`)
  })
  return found
}

/** The files that people write, without generated files and this one. */
function written(...folders: string[]): string[] {
  const generated =
    /^(?:client\/src\/(?:schema|facts)\.ts|docs\/(?:access|configuration|problems)\.md|test\/english\.test\.ts)$/
  return execFileSync('git', ['ls-files', '-z', '--', ...folders], { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter(
      (file) =>
        /\.(?:ts|tsx|md|css|html)$/.test(file) && !generated.test(file) && existsSync(join(root, file)),
    )
}

const badText = [
  '/** Of a user; null for a service. */',
  '/** Who leaves it empty may come back. */',
  '// Given to\n// who asked.',
  "const text = 'Whoever has it keeps it.'",
  '/** Nobody is told what it costs. */',
  '/** The name, in any\n * case. */',
  "const text = 'It is kept, for ' + 'they ask.'",
  '// It begins\n  // anew.',
  '      so many orders, each of them open',
  '/** A file of its own. */',
  "it('stands beside the list', () => {})",
  '/** They take it home. */',
  '/** It is taken back. */',
  '/** The deed is done. */',
  '/** A portion of it. */',
  "const text = '№ 413 of the log'",
  '/** What is sent. */',
  '/** Labels that there\n * are. */',
  "it('who asks', () => {})",
  "it('is 404 for it', () => {})",
  `/** ${'long '.repeat(22)} */`,
]

describe('the English of code, tests and pages', () => {
  it('has none of the habits that make a reader read twice', () => {
    const files = written('.')
    assert.ok(files.length > 500, String(files.length))
    const strays = files.flatMap((file) => findings(file, readFileSync(join(root, file), 'utf8')))
    assert.deepEqual(strays, [])
  })

  it('would be found to have one', () => {
    for (const text of badText) assert.equal(findings('a.ts', text).length, 1, text)
    const good = '/** Ignoring case. */ const deed = { told: beside } // "so many"'.replace(
      '"so many"',
      'three',
    )
    assert.deepEqual(findings('a.ts', good), [])
    assert.equal(findings('a.md', 'The rest is told\nlater.').length, 1)
    assert.deepEqual(findings('a.md', '"a title that is told" and `told`'), [])
  })
})
