import assert from 'node:assert/strict'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { build, createServer } from 'vite'
import { newUser } from '../support/accounts.ts'
import { openBrowser } from '../support/browser/person.ts'
import { freePort } from '../support/process.ts'
import { type Service, startService } from '../support/service.ts'

const browser = openBrowser()
const source = fileURLToPath(new URL('../support/own-app', import.meta.url))
let root: string
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'countersign-own-app-'))
  await cp(source, root, { recursive: true })
  await build({ root, configFile: false, logLevel: 'silent' })
})
after(() => rm(root, { recursive: true }))

/** Opens the app at an address: it signs in, creates an order, and approves it. Returns its page. */
async function assertWorks(t: TestContext, service: Service, baseUrl: string) {
  const { page, expectFault } = await browser.person(t, { service: { baseUrl } })
  const { credentials } = await newUser(service, { roles: ['Admin'] })
  expectFault(/DocumentCookie/)
  await page.goto(`/#${new URLSearchParams(credentials)}`)
  await page.getByText('Acme is approved').waitFor()
  return page
}

describe('an app with the defaults of Vite', () => {
  it('works in the place of the app that is built in', async (t) => {
    const service = await startService({ inside: true, env: { WEB_DIR: join(root, 'dist') }, until: t })
    await assertWorks(t, service, service.baseUrl)
  })

  it('works behind the proxy of its development server', async (t) => {
    const port = await freePort()
    const url = `http://localhost:${port}`
    const service = await startService({ development: true, env: { PUBLIC_URL: url }, until: t })
    const server = await createServer({
      ...{ root, configFile: false, logLevel: 'silent' },
      server: {
        port,
        strictPort: true,
        proxy: { '/v1': { target: service.baseUrl, changeOrigin: true } },
      },
    })
    await server.listen()
    t.after(() => server.close())
    await assertWorks(t, service, url)
  })
})

describe('an app with the defaults of Angular', () => {
  it('works with the policy of docs/own-app.md', async (t) => {
    const folder = join(root, 'angular')
    await mkdir(folder)
    await cp(join(source, 'angular.html'), join(folder, 'index.html'))
    await writeFile(join(folder, 'styles-5INURTSO.css'), 'output { font-weight: 700 }')
    // Components of Angular make such elements.
    const component = `document.head.appendChild(document.createElement('style')).textContent = 'output { color: #010203 }'`
    const main = await readFile(join(source, 'main.js'), 'utf8')
    await writeFile(join(folder, 'main-4WQJ3OZ7.js'), `${component}\n${main}`)
    const manual = await readFile(new URL('../../docs/own-app.md', import.meta.url), 'utf8')
    const [, policy] = /^export WEB_CSP="(.*)"$/m.exec(manual) ?? assert.fail()
    const env = { WEB_DIR: folder, WEB_CSP: String(policy) }
    const service = await startService({ inside: true, env, until: t })
    const page = await assertWorks(t, service, service.baseUrl)
    const look = page.evaluate(
      `(({ color, fontWeight }) => ({ color, fontWeight }))(getComputedStyle(document.querySelector('output')))`,
    )
    assert.deepEqual(await look, { color: 'rgb(1, 2, 3)', fontWeight: '700' })
    const script = await fetch(`${service.baseUrl}/main-4WQJ3OZ7.js`)
    assert.match(String(script.headers.get('cache-control')), /immutable/)
  })
})
