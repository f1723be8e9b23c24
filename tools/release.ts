import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * `node tools/release.ts 1.0.0 2026-11-28`: gives the release its number and its date, and keeps what later
 * ones are compared with. It can be repeated until the tag of the release exists.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const [, , version = '', date = ''] = process.argv
const isDate = /^\d{4}-\d\d-\d\d$/.test(date)
if (!/^\d+\.\d+\.\d+$/.test(version) || !isDate) throw new Error('give the version and the date')
const run = (program: string, ...words: string[]) =>
  execFileSync(program, words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
if (run('git', 'tag', '--list', `v${version}`) !== '') throw new Error(`v${version} is released already`)

for (const name of ['.', 'client', 'verify', 'witness', 'bench']) {
  change(`${name}/package.json`, /^( {2}"version": ").*(",?)$/m, `$1${version}$2`)
}
// The packages of the repository are the only ones of that name.
change('package-lock.json', /("name": "countersign[a-z-]*",\n\s+"version": ")[^"]*/g, `$1${version}`)
change(
  'CHANGELOG.md',
  new RegExp(`^## ${version.replaceAll('.', '\\.')} (?:\\(unreleased\\)|- .*)$`, 'm'),
  `## ${version} - ${date}`,
)
run(process.execPath, 'tools/generate.ts')
mkdirSync(join(root, 'docs/releases'), { recursive: true })
cpSync(join(root, 'docs/frozen.txt'), join(root, `docs/releases/${version}.txt`))
run(process.execPath, 'test/releases/make.ts', version)

function change(file: string, pattern: RegExp, replacement: string): void {
  const path = join(root, file)
  const text = readFileSync(path, 'utf8')
  if (text.search(pattern) < 0) throw new Error(`${file} has no ${pattern}`)
  writeFileSync(path, text.replace(pattern, replacement))
}
