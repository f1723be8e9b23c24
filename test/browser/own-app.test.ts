import { cp, mkdtemp, rm } from 'node:fs/promises'
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

/** Opens the app at an address: it signs in, creates an order, and approves it. */
async function assertWorks(t: TestContext, service: Service, baseUrl: string): Promise<void> {
  const { page, expectFault } = await browser.person(t, { service: { baseUrl } })
  const { credentials } = await newUser(service, { roles: ['Admin'] })
  expectFault(/DocumentCookie/)
  await page.goto(`/#${new URLSearchParams(credentials)}`)
  await page.getByText('Acme is approved').waitFor()
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
