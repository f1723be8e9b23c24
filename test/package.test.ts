import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startProgram } from './support/process.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

describe('what npm run pack makes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-package-'))
  const release = join(folder, 'release')
  const installed = join(folder, 'node_modules', 'countersign')
  const main = join(installed, 'server/main.js')
  after(() => rmSync(folder, { recursive: true }))
  before(() => {
    execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', 'tools/pack.ts', release], {
      cwd: root,
    })
    mkdirSync(installed, { recursive: true })
    execFileSync('tar', ['xzf', packed('countersign'), '-C', installed, '--strip-components=1'])
    const { packages } = JSON.parse(readFileSync(join(installed, 'npm-shrinkwrap.json'), 'utf8'))
    // As npm would install them, without a network. Packages for other platforms are not here.
    for (const path of Object.keys(packages).filter((path) => path !== '')) {
      const { optional } = packages[path]
      cpSync(join(root, path), join(folder, path), { recursive: true, filter: existing(optional) })
    }
  })

  const packed = (name: string) => join(release, readdirSync(release).find(matching(name)) ?? name)
  const matching = (name: string) => (file: string) => new RegExp(`^${name}-[\\d.]+\\.tgz$`).test(file)
  const existing = (optional: boolean) => (source: string) =>
    !optional || statSync(source, { throwIfNoEntry: false }) !== undefined

  it('has three packages, the page, the components, and the sums of all', () => {
    const sums = readFileSync(join(release, 'SHA256SUMS'), 'utf8').trim().split('\n')
    const names = sums.map((line) => line.split('  ')[1])
    assert.deepEqual(
      names.map((name) => name?.replace(/\d+\.\d+\.\d+/, '1.0.0')),
      [
        'countersign-1.0.0.cdx.json',
        'countersign-1.0.0.tgz',
        'countersign-client-1.0.0.tgz',
        'countersign-witness-1.0.0.tgz',
        'verify.html',
      ],
    )
    for (const line of sums) {
      const [sum, name = ''] = line.split('  ')
      assert.equal(
        createHash('sha256')
          .update(readFileSync(join(release, name)))
          .digest('hex'),
        sum,
        name,
      )
    }
  })

  it('lists the components of the service with their hashes', () => {
    const file = readdirSync(release).find((name) => name.endsWith('.cdx.json')) ?? ''
    const { components } = JSON.parse(readFileSync(join(release, file), 'utf8'))
    const shipped = new Map<string, string>()
    for (const { name, version, hashes, properties } of components) {
      if (properties !== undefined || hashes === undefined) continue
      assert.match(hashes[0].content, /^[0-9a-f]{128}$/, name)
      shipped.set(name, version)
    }
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    for (const [name, version] of Object.entries(dependencies)) assert.equal(shipped.get(name), version, name)
    assert.equal(shipped.has('vite'), false)
  })

  it('differs from the sources by types and the endings of specifiers only', () => {
    const sources = globSync('{server,proof,rules}/**/*.ts', { cwd: root })
    const names = sources.map((file) => file.replace(/\.ts$/, '.js'))
    const made = globSync('{server,proof,rules}/**/*.js', { cwd: installed })
    assert.deepEqual(made.sort(), [...names, 'server/db/one-file.js', 'server/http/scalar.js'].sort())
    for (const file of sources) {
      const code = stripTypeScriptTypes(readFileSync(join(root, file), 'utf8'))
      const shipped = readFileSync(join(installed, file.replace(/\.ts$/, '.js')), 'utf8')
      assert.equal(shipped.length, code.length, file)
      // Also those that are loaded only when they are needed.
      assert.doesNotMatch(shipped, /(?:\bfrom|\bimport|URL)\s*\(?\s*'[^']+\.ts'/, file)
      const differing = [...code.matchAll(/\.ts'/g)].filter(({ index }) => shipped.startsWith(".js'", index))
      const restored = differing.reduce(
        (text, { index }) => `${text.slice(0, index)}.ts'${text.slice(index + 4)}`,
        shipped,
      )
      assert.equal(restored, code, file)
    }
  })

  it('brings nothing of development, and takes at most 110 MB with its dependencies', () => {
    const files = globSync('**/*', { cwd: installed })
    const kinds = new Set(files.map((file) => file.split('/')[0]))
    assert.deepEqual([...kinds].sort(), [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'deploy',
      'docs',
      'npm-shrinkwrap.json',
      'package.json',
      'proof',
      'rules',
      'server',
      'web',
    ])
    const bytes = globSync('**/*', { cwd: folder, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.startsWith(release))
      .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
    assert.ok(bytes < 110_000_000, `${bytes} bytes`)
  })

  it('has what its README and its page on operations link to, but for the pages of developers', () => {
    for (const page of ['README.md', 'docs/operations.md']) {
      const links = readFileSync(join(installed, page), 'utf8').matchAll(/\]\((?!\w+:)([^)#]+)/g)
      const dead = [...links]
        .map(([, link = '']) => join(page, '..', link))
        .filter((path) => !existsSync(join(installed, path)))
      assert.deepEqual(
        dead.filter((path) => !/^(?:CONTRIBUTING|client|docs.decisions)\b/.test(path)),
        [],
        page,
      )
    }
  })

  it('is countersign --help, and names itself so', () => {
    const help = execFileSync(process.execPath, [join(installed, 'server/countersign.cjs'), '--help'], {
      encoding: 'utf8',
    })
    assert.match(help, /^Usage: countersign <command>/m)
    assert.doesNotMatch(help, /main\.[jt]s/)
  })

  it('serves from an empty folder up to the first approved order', async (t) => {
    const began = performance.now()
    const server = await startProgram('serve', ['--dev'], { TEST_MAIN: main })
    t.after(() => server.stop())
    assert.match(server.output(), /Data +\S+test\.db/)
    const post = (path: string, body: object, headers: Record<string, string> = {}) =>
      fetch(`${server.baseUrl}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
    const signIn = await post('/v1/auth/token', {
      email: 'admin@example.com',
      password: 'countersign-demo-admin',
    })
    const { accessToken } = (await signIn.json()) as { accessToken: string }
    const authorization = `Bearer ${accessToken}`
    const created = await post('/v1/orders', { customer: 'Acme', total: 1250.5 }, { authorization })
    const { id } = (await created.json()) as { id: string }
    const approved = await fetch(`${server.baseUrl}/v1/orders/${id}/approve`, {
      method: 'PATCH',
      headers: { authorization },
    })
    assert.equal(approved.status, 204)
    t.diagnostic(
      `${((performance.now() - began) / 1000).toFixed(1)} s from the start to the first approved order`,
    )
    for (const path of ['/', '/verify', '/scalar/v1/scalar.js', '/problems/order-not-found']) {
      assert.equal((await fetch(`${server.baseUrl}${path}`)).status, 200, path)
    }
  })
})
