import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type OutgoingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { brotliCompressSync } from 'node:zlib'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import { figuresOf } from '../support/browser/figures.ts'
import { openBrowser, type Person } from '../support/browser/person.ts'
import { brokenConnection } from '../support/browser/watch.ts'
import { startService, testService } from '../support/service.ts'

const browser = openBrowser()

interface Answer {
  headers?: OutgoingHttpHeaders
  body: string | Buffer
}

/** A server made by the test: HTML unless the answer says otherwise, 404 for unknown paths. */
async function serve(t: TestContext, answers: Record<string, Answer>): Promise<{ baseUrl: string }> {
  const server = createServer((request, response) => {
    const answer = answers[request.url ?? '']
    const headers = { 'content-type': 'text/html; charset=utf-8', ...answer?.headers }
    response.writeHead(answer ? 200 : 404, headers).end(answer?.body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

function html(body: string): string {
  return `<!doctype html><html lang="en"><head><title>A test</title><link rel="icon" href="data:,"></head>
    <body><main><h1>A test</h1>${body}</main></body></html>`
}

it('the page of the service with development options opens without a fault', async (t) => {
  const service = await startService({ development: true, clockRuns: true })
  const { page } = await browser.person(t, { service })
  t.after(() => service.close())
  await page.goto('/', { waitUntil: 'networkidle' })
  assert.match(await page.title(), /Countersign/)
})

/** A page of the service's origin on which nothing happens by itself. */
async function openQuietPage({ page, origin }: Person): Promise<void> {
  await page.route(`${origin}/quiet`, (route) =>
    route.fulfill({ contentType: 'text/html', body: html('<p>Quiet</p>') }),
  )
  await page.goto('/quiet')
}

describe('a person at a browser', () => {
  it('sees a request to another origin', async (t) => {
    const other = await serve(t, { '/pixel': { headers: { 'content-type': 'image/gif' }, body: '' } })
    const service = await serve(t, { '/': { body: html(`<img alt="" src="${other.baseUrl}/pixel">`) } })
    const { page, assertClean, origin } = await browser.person(t, { service })
    await page.goto('/')
    await assert.rejects(assertClean(), {
      message: `The page is not clean:\nrequest to another origin: ${other.baseUrl}/pixel`,
    })
    assert.match(origin, /^http:\/\/localhost:\d+$/)
    await page.goto('about:blank')
  })

  it('sees a violation of the content security policy in page, console and issues', async (t) => {
    const headers = { 'content-security-policy': "default-src 'none'; script-src 'self'; img-src data:" }
    const body = html(`<p>Text</p><script>document.title = 'ran'</script><p style="color: red">Text</p>`)
    const service = await serve(t, { '/': { headers, body } })
    const { page, assertClean } = await browser.person(t, { service })
    await page.goto('/')
    const told = await assertClean().catch((error: Error) => error.message)
    for (const expected of [
      /^content security policy: script-src-elem forbids inline$/m,
      /^content security policy: style-src-attr forbids inline$/m,
      /^console error: .*inline script violates/m,
      /^issue: ContentSecurityPolicyIssue .*script-src-elem/m,
    ]) {
      assert.match(String(told), expected)
    }
    assert.equal(await page.title(), 'A test')
  })

  it('sees console errors, uncaught errors, failed requests and issues', async (t) => {
    const service = await serve(t, {
      '/': {
        body: `<title>Quirks</title><link rel="icon" href="data:,"><script>
          console.error('said', 1); console.info('unheard'); fetch('/missing')
          Promise.reject(new Error('rejected')); throw new Error('thrown')</script>`,
      },
    })
    const { page, assertClean } = await browser.person(t, { service })
    await page.goto('/', { waitUntil: 'networkidle' })
    const told = await assertClean().catch((error: Error) => error.message)
    for (const expected of [
      /^console error: said 1 /m,
      /^uncaught: Error: thrown\n {4}at /m,
      /^uncaught: Error: rejected\n {4}at /m,
      /^console error: .*404 \(Not Found\) \(http:.*\/missing\)$/m,
      /^issue: QuirksModeIssue /m,
    ]) {
      assert.match(String(told), expected)
    }
    assert.doesNotMatch(String(told), /unheard/)
  })

  it('may expect a fault, which then must occur', async (t) => {
    const service = await serve(t, { '/': { body: html('<p>Text</p>') } })
    const { page, assertClean, expectFault } = await browser.person(t, { service })
    await page.goto('/')
    expectFault(/404 .*\/missing/)
    await page.evaluate(`fetch('/missing').then(() => undefined)`)
    await assertClean()
    expectFault(/404 .*\/missing/)
    await assert.rejects(assertClean(), /expected, but nothing matched \/404/)
  })

  it('sees what axe finds', async (t) => {
    const body = html(`<img src="data:,"><p style="color: #aaa; background: #fff">Pale</p>
      <p><button style="width: 8px; height: 8px; padding: 0" aria-label="One"></button><button
      style="width: 8px; height: 8px; padding: 0" aria-label="Two"></button></p>`)
    const service = await serve(t, { '/': { body } })
    const { page } = await browser.person(t, { service })
    await page.goto('/')
    const told = await checkAccessibility(page).catch((error: Error) => error.message)
    for (const rule of ['image-alt', 'color-contrast', 'target-size']) {
      assert.match(String(told), new RegExp(`^${rule}: `, 'm'))
    }
  })

  it('has the requested colours, size, language, time zone and motion', async (t) => {
    const service = await serve(t, { '/': { body: html('<p>Text</p>') } })
    const { page } = await browser.person(t, {
      service,
      colorScheme: 'dark',
      viewport: { width: 320, height: 640 },
      locale: 'de-DE',
      timezone: 'Asia/Tokyo',
      motion: true,
    })
    await page.goto('/')
    const seen = await page.evaluate(`[
      matchMedia('(prefers-color-scheme: dark)').matches, innerWidth, navigator.language,
      Intl.DateTimeFormat().resolvedOptions().timeZone, matchMedia('(prefers-reduced-motion: reduce)').matches ]`)
    assert.deepEqual(seen, [true, 320, 'de-DE', 'Asia/Tokyo', false])
  })
})

describe('the network of a person', () => {
  const look = `fetch('/v1/auth/csrf').then(
    async (answer) => [answer.status, answer.headers.get('retry-after'), (await answer.json()).code ?? null],
    () => 'failed')`
  const service = testService({ clockRuns: true })
  const person = browser.samePerson({ service })

  it('falls silent, and comes back', async (t) => {
    const person = await browser.person(t, { service })
    const { page, network, expectFault } = person
    await openQuietPage(person)
    await network('silent')
    const first = await page.evaluate(
      `Promise.race([${look}, new Promise((resolve) => setTimeout(resolve, 300, 'waits'))])`,
    )
    assert.equal(first, 'waits')
    // A caller that is still waiting sees that the connection is gone.
    expectFault(brokenConnection)
    await network('normal')
    assert.deepEqual(await page.evaluate(look), [200, null, null])
  })

  it('answers with a problem that says when to come back', async () => {
    await openQuietPage(person)
    person.expectFault(/ 429 /)
    await person.network({ answers: 'rate-limited', retryAfterSeconds: 7 })
    assert.deepEqual(await person.page.evaluate(look), [429, '7', 'rate-limited'])
  })
})

it('the figures of a page include its scripts as sent, its first paint and its slowest interaction', async (t) => {
  const script = `addEventListener('click', () => {
    const end = performance.now() + 120
    while (performance.now() < end);
    document.querySelector('button').textContent = 'Pressed'
  }) // ${'x'.repeat(10_000)}`
  const encoded = brotliCompressSync(script)
  const headers = { 'content-type': 'text/javascript', 'content-encoding': 'br' }
  const service = await serve(t, {
    '/': { body: html('<button>Press</button><script src="/script.js"></script>') },
    '/script.js': { headers, body: encoded },
  })
  const { page } = await browser.person(t, { service })
  const requested = page.waitForRequest('**/script.js')
  await page.goto('/')
  assert.match((await (await requested).allHeaders())['accept-encoding'] ?? '', /\bbr\b/)
  await page.getByRole('button', { name: 'Press' }).click()
  const figures = await figuresOf(page)
  assert.deepEqual(figures.scripts, {
    count: 1,
    encodedBytes: encoded.length,
    decodedBytes: script.length,
    encodings: ['br'],
  })
  assert.ok(figures.firstContentfulPaintMilliseconds > 0)
  assert.ok(figures.interactionToNextPaintMilliseconds >= 120)
})

describe('Chromium', () => {
  it('ends when the process that started it is killed', async (t) => {
    // Chromium cannot remove its profile then.
    const folder = await mkdtemp(join(tmpdir(), 'countersign-browser-'))
    t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
    const child = spawn(process.execPath, ['--input-type=module', '--eval', startsChromium], {
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => child.kill('SIGKILL'))
    const [line] = await once(createInterface({ input: child.stdout }), 'line')
    const pids: number[] = JSON.parse(line)
    assert.ok(pids.length >= 3)
    assert.deepEqual(pids.filter(isAlive), pids)
    child.kill('SIGKILL')
    const deadline = performance.now() + 60_000
    while (pids.some(isAlive) && performance.now() < deadline) await pause(20)
    assert.deepEqual(pids.filter(isAlive), [])
  })

  const startsChromium = `
    import { launchChromium } from ${JSON.stringify(import.meta.resolve('../support/browser/chromium.ts'))}
    const browser = await launchChromium()
    await browser.newPage()
    const session = await browser.newBrowserCDPSession()
    const { processInfo } = await session.send('SystemInfo.getProcessInfo')
    console.log(JSON.stringify(processInfo.map(({ id }) => id)))`

  function isAlive(pid: number): boolean {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
})
