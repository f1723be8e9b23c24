import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync, Visitor } from 'vite'
import { readScalarScript } from '../server/http/api-browser.ts'
import { buildWebIfStale } from '../web/build.ts'
import { makeKyselyOneFile } from './one-file.ts'

/**
 * `npm run pack [FOLDER]`: what a release is made of, in dist/ or FOLDER. The packages `countersign`,
 * `countersign-client` and `countersign-witness`, the page verify.html, the list of components, and their
 * SHA-256 sums.
 */
const root = fileURLToPath(new URL('..', import.meta.url))
const target = process.argv[2] ?? join(root, 'dist')
const staged = join(target, 'countersign')
const { version, description, license, type, dependencies, optionalDependencies } = readJson('package.json')

/** Where the `t` of each `.ts` stands that `specifiers` has found. */
const endings: number[] = []
const note = (node: { type: string; value?: unknown; end: number } | null | undefined) => {
  if (node?.type === 'Literal' && String(node.value).endsWith('.ts')) endings.push(node.end - 3)
}
const specifiers = new Visitor({
  ImportDeclaration: ({ source }) => note(source),
  ExportNamedDeclaration: ({ source }) => note(source),
  ExportAllDeclaration: ({ source }) => note(source),
  ImportExpression: ({ source }) => note(source),
  NewExpression: ({ callee, arguments: [first] }) => {
    if (callee.type === 'Identifier' && callee.name === 'URL') note(first)
  },
})

await Promise.all([buildWebIfStale(), makeKyselyOneFile()])
rmSync(target, { recursive: true, force: true })
stageSources()
stageOthers()
writeFileSync(join(staged, 'server/http/scalar.js'), await readScalarScript())
writeJson('package.json', {
  name: 'countersign',
  version,
  description,
  license,
  type,
  engines: { node: '^24.6.0 || >=26' },
  bin: { countersign: 'server/countersign.cjs' },
  imports: { '#kysely': './server/db/kysely.js' },
  dependencies,
})
writeJson('npm-shrinkwrap.json', shrinkwrap())
pack(staged)
for (const name of ['client', 'witness']) packCompiled(name)
cpSync(join(root, 'web/dist/verify.html'), join(target, 'verify.html'))
execFileSync(process.execPath, [join(root, 'tools/components.ts'), target])
writeSums()

/** JavaScript from each source: types become spaces, so every position stays, and `.ts` becomes `.js`. */
function stageSources(): void {
  for (const file of globSync('{server,proof,rules}/**/*.{ts,cjs}', { cwd: root })) {
    const source = readFileSync(join(root, file), 'utf8')
    if (file.endsWith('.ts')) stage(file.replace(/\.ts$/, '.js'), withEndings(stripTypeScriptTypes(source)))
    else stage(file, source)
  }
}

/** Ends the specifiers of imports, exports and `new URL(..., import.meta.url)` with `.js`. */
function withEndings(code: string): string {
  const { program, errors } = parseSync('module.js', code)
  if (errors.length > 0) throw new Error(errors[0]?.message)
  endings.length = 0
  specifiers.visit(program)
  const characters = code.split('')
  for (const at of endings) characters[at] = 'j'
  return characters.join('')
}

function stageOthers(): void {
  // The README, messages of commands and a resource of agents lead to these pages.
  for (const file of globSync('docs/*.{md,png}', { cwd: root })) copy(file)
  for (const file of ['LICENSE', 'README.md', 'CHANGELOG.md', 'SECURITY.md']) copy(file)
  for (const folder of ['docs/monitoring', 'docs/proxies', 'deploy', 'web/dist']) copy(folder)
  cpSync(
    fileURLToPath(new URL('one-file.js', import.meta.resolve('kysely'))),
    join(staged, 'server/db/one-file.js'),
  )
}

/** The lock file without what only development needs. */
function shrinkwrap(): unknown {
  const { name, lockfileVersion, packages } = readJson('package-lock.json')
  const kept = Object.entries<Record<string, unknown>>(packages).filter(
    ([path, { dev, devOptional, link }]) => {
      const [, of = ''] = path.split('node_modules/')
      return (
        path.startsWith('node_modules/') && !dev && !devOptional && !link && !(of in optionalDependencies)
      )
    },
  )
  const own = { name, version, license, dependencies }
  return {
    name,
    version,
    lockfileVersion,
    requires: true,
    packages: Object.fromEntries([['', own], ...kept]),
  }
}

/** Packs the client or the witness, compiled. Nothing is written into their folders. */
function packCompiled(name: string): void {
  const folder = join(target, name)
  for (const file of ['package.json', 'README.md']) cpSync(join(root, name, file), join(folder, file))
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  execFileSync('tsc', ['-p', name, '--outDir', join(folder, 'dist')], { cwd: root })
  pack(folder)
}

/** Packs the folder and removes it. */
function pack(folder: string): void {
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', target], { cwd: folder })
  rmSync(folder, { recursive: true })
}

/** As `sha256sum --check` reads it. */
function writeSums(): void {
  const lines = readdirSync(target)
    .sort()
    .map(
      (file) =>
        `${createHash('sha256')
          .update(readFileSync(join(target, file)))
          .digest('hex')}  ${file}\n`,
    )
  writeFileSync(join(target, 'SHA256SUMS'), lines.join(''))
}

function stage(file: string, text: string): void {
  const path = join(staged, file)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
}

function copy(file: string): void {
  cpSync(join(root, file), join(staged, file), { recursive: true })
}

function readJson(file: string) {
  return JSON.parse(readFileSync(join(root, file), 'utf8'))
}

function writeJson(file: string, value: unknown): void {
  stage(file, `${JSON.stringify(value, null, 2)}\n`)
}
