import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build, createServer } from 'vite'
import { newUser } from '../support/accounts.ts'
import { openBrowser } from '../support/browser/person.ts'
import { isLong } from '../support/faults.ts'
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

/** As Angular's own command makes it, with this component in the place of its page of welcome. */
const component = `
import { HttpClient } from '@angular/common/http'
import { Component, inject, signal } from '@angular/core'
import { firstValueFrom, type Observable } from 'rxjs'

@Component({
  selector: 'app-root',
  template: '<output>{{ outcome() }}</output>',
  styles: 'output { color: #010203 }',
})
export class App {
  readonly outcome = signal('')

  constructor() {
    const http = inject(HttpClient)
    const answer = (call: Observable<unknown>): Promise<any> => firstValueFrom(call)
    const work = async () => {
      await answer(http.get('/v1/auth/csrf'))
      const credentials = Object.fromEntries(new URLSearchParams(location.hash.slice(1)))
      await answer(http.post('/v1/auth/session', credentials))
      const { id } = await answer(http.post('/v1/orders', { customer: 'Acme', total: 12.5 }))
      await answer(http.patch('/v1/orders/' + id + '/approve', null))
      const { status, customer } = await answer(http.get('/v1/orders/' + id))
      return customer + (status === 1 ? ' is approved' : ' is not')
    }
    work().then(this.outcome.set, (error) => this.outcome.set(JSON.stringify(error)))
  }
}
`

describe('an app with the defaults of Angular', () => {
  async function policy(): Promise<string> {
    const manual = await readFile(new URL('../../docs/own-app.md', import.meta.url), 'utf8')
    return /^export WEB_CSP="(.*)"$/m.exec(manual)?.[1] ?? assert.fail()
  }

  const skip = isLong ? false : 'fetches Angular'
  it('works as its own command makes and builds it', { skip }, async (t) => {
    const path = [dirname(process.execPath), process.env.PATH].join(delimiter)
    // Vite has set it to 'production', with which npm leaves tools out.
    const surroundings = { ...process.env, PATH: path, NODE_ENV: 'development' }
    const run = (cwd: string, ...command: string[]) =>
      promisify(execFile)('npx', ['--yes', ...command], { cwd, env: surroundings })
    await run(root, '@angular/cli@22', 'new', 'tiny', '--defaults', '--skip-git', '--skip-tests')
    await writeFile(join(root, 'tiny/src/app/app.ts'), component)
    await run(join(root, 'tiny'), 'ng', 'build')
    const env = { WEB_DIR: join(root, 'tiny/dist/tiny/browser'), WEB_CSP: await policy() }
    const service = await startService({ inside: true, env, until: t })
    const page = await assertWorks(t, service, service.baseUrl)
    const color = page.evaluate(`getComputedStyle(document.querySelector('output')).color`)
    assert.equal(await color, 'rgb(1, 2, 3)')
  })

  it('works with the policy of docs/own-app.md', async (t) => {
    const folder = join(root, 'angular')
    await mkdir(folder)
    await cp(join(source, 'angular.html'), join(folder, 'index.html'))
    await writeFile(join(folder, 'styles-5INURTSO.css'), 'output { font-weight: 700 }')
    // Components of Angular make such elements.
    const style = `document.head.appendChild(document.createElement('style')).textContent = 'output { color: #010203 }'`
    const main = await readFile(join(source, 'main.js'), 'utf8')
    await writeFile(join(folder, 'main-4WQJ3OZ7.js'), `${style}\n${main}`)
    const env = { WEB_DIR: folder, WEB_CSP: await policy() }
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
