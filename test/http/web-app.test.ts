import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { demoAccounts } from '../../server/demo/demo.ts'
import { catalogue } from '../../server/problems/catalogue.ts'
import { withRawDatabase } from '../support/database.ts'
import { assertProblem } from '../support/problem.ts'
import { exchange, request } from '../support/raw.ts'
import { startService, testService } from '../support/service.ts'

const decoded = (html: string) =>
  html.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&#39;', "'")
const root = fileURLToPath(new URL('../..', import.meta.url))

describe('the web app', () => {
  const service = testService()
  let index: string
  before(async () => {
    index = (await service.client().get('/')).text
  })

  const assetPath = (extension: string) =>
    new RegExp(`(?:href|src)="(/assets/[^"]+\\.${extension})"`).exec(index)?.[1] ?? ''

  it('is one page at every address outside the API, revalidated each time', async () => {
    assert.match(index, /^<!doctype html>/i)
    const likeApi = '/healthy /HEALTH /v1x /V1/x /openapis /.well-knownx /scalars/v1'.split(' ')
    const others = '/ /orders /orders/7/ /problems/none /a/b/c?d=e /a?b=% /%E2%82%AC /index.html'.split(' ')
    for (const path of [...likeApi, ...others]) {
      const answer = await service.client().get(path)
      assert.equal(answer.status, 200, path)
      assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8', path)
      assert.equal(answer.headers.get('cache-control'), 'no-cache', path)
      assert.equal(answer.text, index, path)
      const head = await service.client().send('HEAD', path, undefined, { 'accept-encoding': 'identity' })
      assert.equal(head.status, 200, path)
      assert.equal(head.headers.get('content-length'), String(Buffer.byteLength(index)), path)
    }
  })

  it('has the currency in its page if one is set, and never in an asset', async () => {
    assert.doesNotMatch(index, /currency/)
    const priced = await startService({ inside: true, env: { CURRENCY: 'eur' } })
    const page = await priced.client().get('/orders')
    const asset = await priced.client().get(assetPath('js'))
    await priced.close()
    assert.match(page.text, /<meta name="currency" content="EUR" \/>/)
    assert.equal(page.text.replace(/\n.*<meta name="currency".*\/>/, ''), index)
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
    assert.equal(page.headers.get('cache-control'), 'no-cache')
    assert.match(page.headers.get('content-security-policy') ?? '', /script-src 'self'/)
    assert.equal(asset.status, 200)
  })

  it('has the demo accounts in its page in development, as long as their passwords are the published ones', async (t) => {
    assert.doesNotMatch(index, /demo/)
    const demo = await startService({ development: true, until: t })
    const accountsIn = (page: string) => /<meta name="demo-accounts" content="(.*)" \/>/.exec(page)?.[1]
    const shown = async () =>
      JSON.parse((accountsIn((await demo.client().get('/')).text) ?? '[]').replaceAll('&quot;', '"'))
    assert.deepEqual(await shown(), demoAccounts)
    const admin = await demo.session('admin')
    const currentPassword = 'countersign-demo-admin'
    const newPassword = 'a-password-of-my-own'
    assert.equal((await admin.post('/v1/auth/password', { currentPassword, newPassword })).status, 204)
    assert.deepEqual(await shown(), demoAccounts.slice(1))
    await withRawDatabase(demo.databaseUrl, (db) => db.updateTable('principals').set({ demo: 0 }).execute())
    assert.deepEqual(await shown(), [])
  })

  it('has no password of a demo account in any file', () => {
    const files = globSync('web/dist/**/*', { cwd: root, withFileTypes: true }).filter((file) =>
      file.isFile(),
    )
    assert.ok(files.length > 5)
    for (const { parentPath, name } of files) {
      assert.equal(readFileSync(join(parentPath, name)).includes('countersign-demo-'), false, name)
    }
  })

  it('has a page without a script for each problem, and a list of all', async () => {
    const list = await service.client().get('/problems')
    const listed = [...list.text.matchAll(/<a href="\/problems\/(.+?)"/g)].map(([, code]) => code)
    assert.deepEqual(listed.toSorted(), Object.keys(catalogue).sort())
    for (const [code, { status, title, remedy }] of Object.entries(catalogue)) {
      const page = await service.client().get(`/problems/${code}/`)
      assert.equal(page.status, 200, code)
      assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8', code)
      assert.equal(page.headers.get('cache-control'), 'no-cache', code)
      assert.doesNotMatch(page.text, /<style|<script|\son\w+=|\sstyle=|https?:\/\//, code)
      const words = page.text.replaceAll(/<.*?>/g, '').replaceAll(/\s+/g, ' ')
      const sentences = [title, `${code} Status ${status}`, remedy.replaceAll('`', '')]
      for (const sentence of sentences) assert.ok(decoded(words).includes(sentence), `${code}: ${words}`)
    }
  })

  it('disallows everything to robots', async () => {
    const answer = await service.client().get('/robots.txt')
    assert.match(answer.headers.get('content-type') ?? '', /^text\/plain/)
    assert.equal(answer.text, 'User-agent: *\nDisallow: /\n')
  })

  it('answers 404 with a problem to every other method', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
      const answer = await exchange(service.baseUrl, request(method, '/orders'))
      assert.equal(answer.status, 404, method)
      assert.equal(answer.body.code, 'route-not-found', method)
    }
  })

  it('has a content security policy without unsafe-inline or unsafe-eval, and a page that obeys it', async () => {
    const { headers } = await service.client().get('/orders')
    const policy = headers.get('content-security-policy') ?? ''
    assert.match(policy, /default-src 'none'/)
    assert.match(policy, /script-src 'self'/)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.match(policy, /base-uri 'none'/)
    assert.doesNotMatch(policy, /unsafe|\*|https?:/)
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.doesNotMatch(index, /<style|<script(?![^>]* src=)|\son\w+=|\sstyle=|https?:\/\//)
  })

  it('serves hashed assets as immutable, with their type and nosniff', async () => {
    const types = {
      js: /^(text|application)\/javascript; charset=utf-8$/,
      css: /^text\/css/,
      svg: /^image\/svg\+xml/,
    }
    for (const [extension, type] of Object.entries(types)) {
      const answer = await service.client().get(assetPath(extension))
      assert.equal(answer.status, 200)
      assert.match(answer.headers.get('content-type') ?? '', type)
      assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable')
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
    }
  })

  it('sends the page and its assets compressed as the caller asks, and never a compressed file by its name', async () => {
    for (const path of ['/orders', '/problems/role-held', assetPath('js'), assetPath('css')]) {
      const plain = await service.client().get(path, { 'accept-encoding': 'identity' })
      assert.equal(plain.headers.get('content-encoding'), null, path)
      for (const [asked, encoding] of [
        ['br', 'br'],
        ['gzip', 'gzip'],
        ['gzip, deflate, br, zstd', 'br'],
      ] as const) {
        const answer = await service.client().get(path, { 'accept-encoding': asked })
        assert.equal(answer.headers.get('content-encoding'), encoding, path)
        assert.match(answer.headers.get('vary') ?? '', /accept-encoding/i, path)
        assert.equal(answer.headers.get('content-type'), plain.headers.get('content-type'), path)
        assert.equal(answer.text, plain.text, path)
        const length = Number(answer.headers.get('content-length'))
        assert.ok(length > 0 && length < Buffer.byteLength(plain.text), path)
      }
    }
    assertProblem(await service.client().get(`${assetPath('js')}.br`), 404, 'route-not-found')
  })

  it('answers 404 with a problem for a missing file under /assets/', async () => {
    for (const path of '/assets/none.js /assets/ /assets /assets/none /assets/.. /assets/none.css?x'.split(
      ' ',
    )) {
      const answer = await exchange(service.baseUrl, request('GET', path))
      assert.equal(answer.status, 404, path)
      assert.equal(answer.body.code, 'route-not-found', path)
    }
    assertProblem(await service.client().get('/assets/index.html'), 404, 'route-not-found')
  })
})
