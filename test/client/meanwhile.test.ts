// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { appClient, browserClient, type SignedIn } from '../../client/src/index.ts'

const baseUrl = 'https://orders.example.com'
const pair = (name: string) => ({ accessToken: `access ${name}`, refreshToken: `refresh ${name}` })

describe('a sign-out while a refresh is under way', () => {
  async function meanwhile(slow: 'the answer' | 'what is kept' | 'what is forgotten') {
    const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const wait = () => {
      begun.resolve()
      return held.promise
    }
    const sent: (string | null)[] = []
    const fetch = async (request: Request) => {
      const { pathname } = new URL(request.url)
      if (pathname.endsWith('/refresh') && slow !== 'what is kept') await wait()
      if (pathname.endsWith('/refresh')) return Response.json(pair('2'))
      if (pathname.endsWith('/revoke')) return Response.json({})
      sent.push(request.headers.get('authorization'))
      return Response.json({ code: 'authentication-required', status: 401, detail: '' }, { status: 401 })
    }
    const kept: (string | undefined)[] = []
    const keep = async (next: SignedIn | undefined) => {
      if (next && slow === 'what is kept') await wait()
      if (!next && slow === 'what is forgotten') {
        held.resolve()
        await call
      }
      kept.push(next?.accessToken)
    }
    const signedIn = { ...pair('1'), refreshKey: 'key' } as SignedIn
    const app = appClient({ baseUrl, fetch, keep, signedIn })
    const call = app.GET('/v1/orders').catch(() => undefined)
    await begun.promise
    await app.signOut()
    held.resolve()
    await call
    const before = sent.length
    await app.GET('/v1/orders').catch(() => undefined)
    return { kept: kept.at(-1), later: sent.slice(before) }
  }

  it('holds, although the answer comes after it', async () => {
    assert.deepEqual(await meanwhile('the answer'), { kept: undefined, later: [null] })
  })

  it('holds, although the answer comes before it is stored', async () => {
    assert.deepEqual(await meanwhile('what is forgotten'), { kept: undefined, later: [null] })
  })

  it('holds, although the new pair is kept after it', async () => {
    assert.deepEqual(await meanwhile('what is kept'), { kept: undefined, later: [null] })
  })
})

it('the latest of two sign-ins is kept, and ends by a sign-out although it is still being kept', async () => {
  const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const kept: (string | undefined)[] = []
  const ended: string[] = []
  const answers = [pair('1'), pair('2')]
  const fetch = async (request: Request) => {
    if (request.url.endsWith('/revoke')) ended.push(await request.text())
    return Response.json(answers.shift() ?? {})
  }
  const keep = (next: SignedIn | undefined) => {
    if (kept.push(next?.accessToken) === 2) begun.resolve()
    return [begun.promise, held.promise][kept.length - 1]
  }
  const app = appClient({ baseUrl, fetch, keep })
  const [first] = [1, 2].map(() => app.signIn({ email: 'ada@example.com', password: 'password' }))
  await first
  assert.equal(kept.at(-1), 'access 2')
  await app.signOut()
  assert.deepEqual([kept.at(-1), ...ended], [undefined, 'token=refresh+2'])
})

for (const [status, code, later] of [
  [401, 'authentication-required', []],
  [503, 'database-unavailable', [null]],
] as const) {
  it(`a request that is answered ${status} is not sent again in the name of the next person`, async () => {
    const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const sent: (string | null)[] = []
    const fetch = async (request: Request) => {
      if (request.url.endsWith('/token')) return Response.json(pair('2'))
      if (!request.url.endsWith('/approve')) return Response.json({})
      if (sent.push(request.headers.get('authorization')) > 1) return Response.json({})
      begun.resolve()
      await held.promise
      return Response.json({ code, status, detail: '' }, { status, headers: { 'retry-after': '0' } })
    }
    const app = appClient({ baseUrl, fetch, signedIn: { ...pair('1'), refreshKey: 'key' } as SignedIn })
    const params = { path: { id: '1' }, header: { 'Idempotency-Key': 'key' } }
    const call = app.PATCH('/v1/orders/{id}/approve', { params }).catch(() => undefined)
    await begun.promise
    await app.signOut()
    await app.signIn({ email: 'bea@example.com', password: 'password' })
    held.resolve()
    await call
    assert.deepEqual(sent, ['Bearer access 1', ...later])
  })
}

it('a sign-out ends its refresh tokens although it cannot be stored', async () => {
  const asked: string[] = []
  const fetch = async ({ url }: Request) => {
    asked.push(new URL(url).pathname)
    return Response.json({})
  }
  const keep = () => Promise.reject(new Error('full'))
  const app = appClient({ baseUrl, fetch, keep, signedIn: { ...pair('1'), refreshKey: 'key' } as SignedIn })
  await assert.rejects(app.signOut(), /full/)
  assert.deepEqual(asked, ['/v1/auth/revoke'])
})

it('an antiforgery token that could not be fetched is fetched again', async () => {
  let isAway = true
  const fetch = async (request: Request) => {
    if (new URL(request.url).pathname !== '/v1/auth/csrf') return new Response(null, { status: 204 })
    if (isAway) throw new TypeError('away')
    return Response.json({ token: 'token' })
  }
  const browser = browserClient({ baseUrl, fetch, retries: 0 })
  await assert.rejects(browser.signOut())
  isAway = false
  await browser.signOut()
})

it('an export that is read no further ends its connection', async () => {
  let isCancelled = false
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"id":"a"}\n{"id":"b"}\n')),
    cancel: () => {
      isCancelled = true
    },
  })
  const { orders } = browserClient({ baseUrl, fetch: async () => new Response(body) })
  for await (const _ of orders.export()) break
  assert.equal(isCancelled, true)
})
