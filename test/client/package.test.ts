import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type * as Package from '../../client/src/index.ts'
import { machineStamp } from '../../server/audit/audit.ts'
import { newClient, newUser, type TestUser } from '../support/accounts.ts'
import { Client } from '../support/client.ts'
import { type Service, startService } from '../support/service.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))

/** Code that compiles against the types of the package, and code that must not. */
const consumer = `
import { appClient, browserClient, ifUnchanged, problemOf, serviceClient, type components, type SignedIn } from 'countersign-client'

const service = serviceClient({ baseUrl: 'https://a.example', clientId: 'a', clientSecret: 'b' })
// @ts-expect-error a secret is needed
serviceClient({ clientId: 'a' })
const kept: SignedIn[] = []
const app = appClient({ keep: (signedIn) => void (signedIn && kept.push(signedIn)) })
await app.signIn({ email: 'a@example.com', password: 'b' })
await browserClient().signOut()

const read = await app.GET('/v1/orders/{id}', { params: { path: { id: 'x' } } })
const { total }: { total: number } = read.data satisfies components['schemas']['Order']
// @ts-expect-error there is no such field
read.data.colour
// @ts-expect-error the id is needed
app.GET('/v1/orders/{id}')
// @ts-expect-error no such path
app.GET('/v1/order')
// @ts-expect-error no such parameter
app.GET('/v1/orders', { params: { query: { colour: 'red' } } })
// @ts-expect-error what is not offered
app.DELETE('/v1/orders')
// @ts-expect-error a body is needed
app.POST('/v1/orders', {})
await app.POST('/v1/orders', { body: { customer: 'Acme', total: '1.5' } })
const header = ifUnchanged(read)
const nothing: undefined = (await app.PATCH('/v1/orders/{id}/approve', { params: { path: { id: 'x' }, header } })).data
for await (const { customer } of service.each('/v1/orders')) customer.toUpperCase()
const rows = [{ from: '12.50', approvals: 1, selfApproval: true, services: true }]
await app.PUT('/v1/approval-policy', { body: { rows }, params: { header: { 'If-Match': '*' } } })
const [row] = (await app.GET('/v1/approval-policy')).data.rows
const from: number | undefined = row?.from
const csv: Response = await service.export('/v1/orders', 'text/csv', { params: { query: { filter: 'a' } } })
// @ts-expect-error not in this form
service.export('/v1/log', 'text/csv')
// @ts-expect-error this is no list
service.each('/v1/auth/me')

try {
  await app.GET('/v1/auth/me')
} catch (failure) {
  const status: number | undefined = problemOf(failure, 'order-not-pending')?.currentStatus
  // @ts-expect-error only that problem has it
  problemOf(failure, 'order-not-found')?.currentStatus
  // @ts-expect-error no such code
  problemOf(failure, 'order-lost')
  const problem = problemOf(failure)
  if (problem?.code === 'result-too-large') problem.limit.toFixed(total + (status ?? 0) + (from ?? 0) + csv.status + Number(nothing))
}
`
const compilerOptions = {
  strict: true,
  noEmit: true,
  target: 'es2022',
  module: 'nodenext',
  lib: ['es2023', 'dom', 'dom.iterable'],
  types: [],
}

/** Keeps cookies around fetch, as browsers do. */
function withCookies(): (request: Request, init: RequestInit) => Promise<Response> {
  const cookies = new Map<string, string>()
  return async (request, init) => {
    request.headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '))
    const answer = await fetch(request, init)
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/max-age=0/i.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return answer
  }
}

describe('the package of the client, installed from its tarball', () => {
  let folder: string
  let client: typeof Package
  let service: Service
  let baseUrl: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'countersign-client-'))
    const pack = ['pack', '--json', '--ignore-scripts=false', '--pack-destination', folder]
    const { stdout } = await run('npm', pack, { cwd: join(root, 'client') })
    const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf('[\n')))
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${filename}`], { cwd: folder })
    const entry = createRequire(join(folder, 'x.js')).resolve('countersign-client')
    client = await import(pathToFileURL(entry).href)
    service = await startService({ orders: true })
    ;({ baseUrl } = service)
  })
  after(async () => {
    await service?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const read = (path: string) => readFile(join(folder, 'node_modules/countersign-client', path), 'utf8')

  /** Counts the requests, and lets a test change the answers. */
  function watched(between: (path: string, answer: Response) => Response = (_, answer) => answer) {
    const paths: string[] = []
    const watchedFetch = async (request: Request, init: RequestInit) => {
      const { pathname } = new URL(request.url)
      paths.push(pathname)
      return between(pathname, await fetch(request, init))
    }
    const count = (path: string) => paths.filter((each) => each === path).length
    return { fetch: watchedFetch, count }
  }

  describe('is what it promises', () => {
    it('without dependencies, with README and licence, and small', async () => {
      const { dependencies, license, exports } = JSON.parse(await read('package.json'))
      assert.deepEqual([dependencies, license], [undefined, 'MIT'])
      assert.ok((await read('README.md')).includes('countersign-client'))
      assert.ok((await read('LICENSE')).includes('MIT'))
      assert.ok((await read(exports['.'].types)).length > 0)
      const files = ['bearer', 'browser', 'client', 'facts', 'index', 'problem', 'schema']
      const sizes = await Promise.all(files.map(async (name) => (await read(`dist/${name}.js`)).length))
      assert.ok(sizes.reduce((a, b) => a + b) < 30_000, String(sizes))
    })

    it('typed: what the service does not offer does not compile', async () => {
      await writeFile(join(folder, 'consumer.ts'), consumer)
      await writeFile(
        join(folder, 'tsconfig.json'),
        JSON.stringify({ compilerOptions, files: ['consumer.ts'] }),
      )
      const tsc = join(root, 'node_modules/typescript/bin/tsc')
      const { stdout } = await run(process.execPath, [tsc, '-p', folder]).catch((error) => error)
      assert.equal(stdout, '')
    })
  })

  describe('signs in by a cookie', () => {
    it('adds the antiforgery token, gets another when it is refused, and is out after signing out', async () => {
      const user = await newUser(service, { roles: ['Admin'] })
      let spoiled = 0
      let fetched = 0
      const cookies = withCookies()
      const browser = client.browserClient({
        baseUrl,
        fetch: (request, init) => {
          if (request.url.endsWith('/v1/auth/csrf')) fetched += 1
          if (request.headers.has('x-xsrf-token') && spoiled++ === 0)
            request.headers.set('x-xsrf-token', 'x.y')
          return cookies(request, init)
        },
      })
      await browser.signIn(user.credentials)
      const { data } = await browser.POST('/v1/orders', { body: { customer: 'Acme', total: 2 } })
      assert.deepEqual([spoiled, fetched], [2, 2])
      const { createdBy } = await client.answerOf(
        browser.GET('/v1/orders/{id}', { params: { path: { id: data.id } } }),
      )
      assert.equal(createdBy, user.userName)
      await browser.signOut()
      await assert.rejects(browser.GET('/v1/auth/me'), (failure) => {
        return client.problemOf(failure, 'authentication-required') !== undefined
      })
    })
  })

  describe('signs in by a token pair', () => {
    const me = (app: Package.AppClient) => client.answerOf(app.GET('/v1/auth/me'))

    async function signedIn(user: TestUser, options: Package.AppOptions = {}) {
      const kept: (Package.SignedIn | undefined)[] = []
      const app = client.appClient({ baseUrl, keep: (state) => void kept.push(state), ...options })
      await app.signIn(user.credentials)
      return { app, kept }
    }

    it('refreshes once for all waiting calls, and passes on what to keep', async () => {
      const user = await newUser(service)
      const { fetch, count } = watched()
      const { app, kept } = await signedIn(user, { fetch })
      service.advance(906_000)
      const answers = await Promise.all(Array.from({ length: 30 }, () => me(app)))
      assert.ok(answers.every(({ userName }) => userName === user.userName))
      assert.equal(count('/v1/auth/token/refresh'), 1)
      assert.equal(kept.length, 2)
      assert.notEqual(kept[0]?.refreshToken, kept[1]?.refreshToken)
      const again = client.appClient({ baseUrl, ...(kept[1] && { signedIn: kept[1] }) })
      service.advance(906_000)
      assert.equal((await me(again)).userName, user.userName)
    })

    it('survives a lost answer to a refresh, in this run and in the next', async () => {
      for (const isNextRun of [false, true]) {
        const user = await newUser(service)
        let lost = 0
        const { fetch } = watched((path, answer) => {
          if (path === '/v1/auth/token/refresh' && lost++ === 0) throw new TypeError('terminated')
          return answer
        })
        const { app, kept } = await signedIn(user, { fetch })
        service.advance(906_000)
        await assert.rejects(me(app), client.NoAnswerError)
        const [signedInBefore] = kept
        const next = isNextRun
          ? client.appClient({ baseUrl, ...(signedInBefore && { signedIn: signedInBefore }) })
          : app
        assert.equal((await me(next)).userName, user.userName)
        service.advance(906_000)
        assert.equal((await me(next)).userName, user.userName)
      }
    })

    it('throws if the family has ended, and forgets it', async () => {
      const user = await newUser(service)
      const { app, kept } = await signedIn(user)
      await service.db.write('signOutUser', { account: user.account, stamp: machineStamp(service.now()) })
      service.advance(906_000)
      await assert.rejects(
        me(app),
        (failure) => client.problemOf(failure, 'invalid-refresh-token') !== undefined,
      )
      assert.equal(kept.at(-1), undefined)
      await assert.rejects(
        me(app),
        (failure) => client.problemOf(failure, 'authentication-required') !== undefined,
      )
    })

    it('ends its refresh tokens when it signs out', async () => {
      const { app, kept } = await signedIn(await newUser(service))
      const [state] = kept
      await app.signOut()
      assert.equal(kept.at(-1), undefined)
      const { refreshToken } = state ?? {}
      const answer = await new Client(baseUrl).post('/v1/auth/token/refresh', { refreshToken })
      assert.equal(answer.body.code, 'invalid-refresh-token')
    })

    it('passes on a refusal that is not about the token', async () => {
      const { fetch, count } = watched()
      const { app } = await signedIn(await newUser(service, { roles: ['Viewer'] }), { fetch })
      const create = app.POST('/v1/orders', { body: { customer: 'Acme', total: 1 } })
      await assert.rejects(create, (failure) => {
        return client.problemOf(failure, 'permission-denied')?.permission === 'Orders.Create'
      })
      const body = { email: 'nobody@example.com', password: 'x' }
      await assert.rejects(
        app.POST('/v1/auth/token', { body }),
        (failure) => client.problemOf(failure, 'invalid-credentials') !== undefined,
      )
      assert.equal(count('/v1/auth/token/refresh'), 0)
    })
  })

  describe('signs in as a service', () => {
    it('fetches one token for all waiting calls, and another when it has expired', async () => {
      const { fetch, count } = watched()
      const { clientId, credentials } = await newClient(service)
      const caller = client.serviceClient({ baseUrl, fetch, ...credentials })
      const names = await Promise.all(
        Array.from({ length: 20 }, () => client.answerOf(caller.GET('/v1/auth/me'))),
      )
      assert.ok(names.every(({ userName }) => userName === clientId))
      assert.equal(count('/v1/auth/clients/token'), 1)
      service.advance(3_606_000)
      await caller.GET('/v1/auth/me')
      assert.equal(count('/v1/auth/clients/token'), 2)
    })

    it('throws if it is refused', async () => {
      const { clientId } = await newClient(service)
      const caller = client.serviceClient({ baseUrl, clientId, clientSecret: 'wrong' })
      await assert.rejects(
        caller.GET('/v1/auth/me'),
        (failure) => client.problemOf(failure)?.code === 'invalid-client',
      )
    })
  })

  describe('works', () => {
    let caller: Package.Client
    before(async () => {
      caller = client.serviceClient({ baseUrl, ...(await newClient(service, ['Admin'])).credentials })
    })

    it('through a list page by page, and no further than needed', async () => {
      const { fetch, count } = watched()
      const { credentials } = await newClient(service)
      const watchedCaller = client.serviceClient({ baseUrl, fetch, ...credentials })
      const query = { orderBy: 'id', order: 'Asc', filter: 'createdBy!=none' }
      const ids: string[] = []
      for await (const { id } of watchedCaller.each('/v1/orders', { params: { query } })) ids.push(id)
      const { totalCount } = await client.answerOf(caller.GET('/v1/orders', { params: { query } }))
      assert.ok(ids.length > 200)
      assert.deepEqual(ids, [...new Set(ids)].sort())
      assert.equal(ids.length, totalCount)
      const pages = count('/v1/orders')
      assert.equal(pages, Math.ceil(ids.length / 100))
      for await (const _ of watchedCaller.each('/v1/orders')) break
      assert.equal(count('/v1/orders'), pages + 1)
    })

    it('through a whole list in a chosen form', async () => {
      const whole = await caller.export('/v1/orders', 'application/jsonl')
      const { totalCount } = await client.answerOf(caller.GET('/v1/orders'))
      assert.equal((await whole.text()).split('\n').length - 1, totalCount)
      const refused = caller.export('/v1/orders', 'text/csv', { params: { query: { filter: 'total>' } } })
      await assert.rejects(refused, (failure) => client.problemOf(failure, 'invalid-filter') !== undefined)
    })

    it('on what was read, and not if it has changed since', async () => {
      const { data } = await caller.POST('/v1/orders', { body: { customer: 'Acme', total: '12.50' } })
      const params = { path: { id: data.id } }
      const before = await caller.GET('/v1/orders/{id}', { params })
      assert.deepEqual([before.etag, before.data.total], ['"1"', 12.5])
      const rejected = {
        params: { ...params, header: client.ifUnchanged(before) },
        body: { reason: 'Twice.' },
      }
      await caller.PATCH('/v1/orders/{id}/reject', rejected)
      const approval = { params: { ...params, header: client.ifUnchanged(before) } }
      await assert.rejects(caller.PATCH('/v1/orders/{id}/approve', approval), (failure) => {
        return client.problemOf(failure, 'precondition-failed') !== undefined
      })
      await assert.rejects(caller.PATCH('/v1/orders/{id}/approve', { params }), (failure) => {
        const problem = client.problemOf(failure, 'order-not-pending')
        return problem?.currentStatus === client.orderStates.Rejected
      })
    })

    it('until it is aborted, and throws if nothing answers', async () => {
      const signal = AbortSignal.abort()
      await assert.rejects(caller.GET('/v1/orders', { signal }), { name: 'AbortError' })
      const nobody = client.browserClient({ baseUrl: 'http://127.0.0.1:9' })
      await assert.rejects(nobody.GET('/health'), client.NoAnswerError)
      const proxy = client.browserClient({
        baseUrl,
        fetch: async () => new Response('<html>', { status: 502 }),
      })
      await assert.rejects(proxy.GET('/health'), client.NoAnswerError)
    })
  })
})
