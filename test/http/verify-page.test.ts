import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Answer } from '../support/client.ts'
import { assertProblem } from '../support/problem.ts'
import { testService } from '../support/service.ts'

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
const contentOf = (tag: string, page: string) =>
  new RegExp(`<${tag}>(.*?)</${tag}>`, 's').exec(page)?.[1] ?? ''

describe('GET /verify', () => {
  const service = testService()
  let answer: Answer
  let policy: string
  before(async () => {
    answer = await service.client().get('/verify')
    policy = answer.headers.get('content-security-policy') ?? ''
  })

  it('is a page for anyone, revalidated each time', async () => {
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8')
    assert.equal(answer.headers.get('cache-control'), 'no-cache')
    assert.equal(answer.headers.get('set-cookie'), null)
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(answer.headers.get('referrer-policy'), 'no-referrer')
    assert.match(answer.headers.get('strict-transport-security') ?? '', /max-age=\d{8,}/)
    assert.equal((await service.client().get('/verify/')).text, answer.text)
    const head = await service.client().send('HEAD', '/verify', undefined, { 'accept-encoding': 'identity' })
    assert.equal(head.headers.get('content-length'), String(Buffer.byteLength(answer.text)))
    const cut = await service.client().get('/verify', { range: 'bytes=0-9' })
    assert.deepEqual([cut.status, cut.text], [200, answer.text])
    const asked = await service.client().get('/verify', { 'accept-encoding': 'br' })
    assert.deepEqual([asked.headers.get('content-encoding'), asked.text], ['br', answer.text])
    const posted = await service.client().post('/verify', {})
    assertProblem(posted, 405, 'method-not-allowed')
  })

  it('allows its own script and style by their hashes, and nothing else', () => {
    const [script, style] = [contentOf('script', answer.text), contentOf('style', answer.text)]
    assert.ok(script.length > 5_000 && style.length > 1_000)
    assert.deepEqual(policy.split('; '), [
      "default-src 'none'",
      `script-src ${hashOf(script)}`,
      `style-src ${hashOf(style)}`,
      'img-src data:',
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ])
  })

  it('has the same policy in the file, except for frames, of which a file can say nothing', () => {
    const [, inFile] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(answer.text) ?? []
    assert.equal(`${inFile}; frame-ancestors 'none'`, policy)
  })

  it('refers to no other file', () => {
    const page = answer.text.replace(contentOf('script', answer.text), '')
    assert.doesNotMatch(page, /\bsrc=|\burl\(|@import|\son\w+=|\sstyle=/)
    assert.deepEqual(page.match(/\bhref="[^"]*"/g), ['href="data:,"', 'href="/verify"'])
  })

  it('is the same bytes whenever it is built', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'countersign-page-'))
    t.after(() => rm(folder, { recursive: true }))
    const build = fileURLToPath(new URL('../../verify/build.ts', import.meta.url))
    await promisify(execFile)(process.execPath, [build, folder])
    assert.equal(await readFile(join(folder, 'verify.html'), 'utf8'), answer.text)
  })
})
