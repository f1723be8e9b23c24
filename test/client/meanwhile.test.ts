// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { appClient, browserClient, type SignedIn } from '../../client/src/index.ts'

const baseUrl = 'https://orders.example.com'
const pair = (name: string) => ({ accessToken: `access ${name}`, refreshToken: `refresh ${name}` })
const refused = (code: string, status: number) =>
  Response.json({ code, status, detail: '' }, { status, headers: { 'retry-after': '0' } })

/** A moment at which something waits until it may go on. */
function moment() {
  const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const wait = () => {
    begun.resolve()
    return held.promise
  }
  return { begun: begun.promise, wait, goOn: held.resolve }
}

type Fate = (request: Request) => Promise<unknown>
type Keep = (next: SignedIn | undefined) => void | Promise<void>

/**
 * An app of the person of pair 1, at a service that signs in as 2 and refuses everything else. A fate comes
 * before the answer to its path, or in its place.
 */
function appAt(fates: Record<string, Fate> = {}, keep: Keep = () => undefined, first: string | null = '1') {
  const [sent, ended]: [(string | null)[], string[]] = [[], []]
  const fetch = async (request: Request) => {
    const path = new URL(request.url).pathname.split('/').at(-1) ?? ''
    const isOfPerson = !['token', 'refresh', 'revoke'].includes(path)
    if (isOfPerson) sent.push(request.headers.get('authorization'))
    if (path === 'revoke') ended.push(await request.text())
    const answer = await fates[path]?.(request)
    if (answer instanceof Response) return answer
    return isOfPerson ? refused('authentication-required', 401) : Response.json(pair('2'))
  }
  const signedIn = { ...pair(`${first}`), refreshKey: 'key' } as SignedIn
  const app = appClient({ baseUrl, fetch, keep, ...(first !== null && { signedIn }) })
  const next = () => app.signIn({ email: 'bea@example.com', password: 'password' })
  const read = () => app.GET('/v1/orders').catch(() => undefined)
  return { app, sent, ended, next, read }
}

describe('a sign-out while a refresh is under way', () => {
  async function meanwhile(slow: 'the answer' | 'what is kept' | 'what is forgotten') {
    const { begun, wait, goOn } = moment()
    const kept: (string | undefined)[] = []
    const refresh = async () => void (slow !== 'what is kept' && (await wait()))
    const { app, sent, read } = appAt({ refresh }, async (next) => {
      if (next && slow === 'what is kept') await wait()
      if (!next && slow === 'what is forgotten') {
        goOn()
        await call
        await read()
      }
      kept.push(next?.accessToken)
    })
    const call = read()
    await begun
    await app.signOut()
    goOn()
    await call
    await read()
    return { kept: kept.at(-1), later: sent.slice(1) }
  }

  for (const [slow, what, later] of [
    ['the answer', 'the answer comes after it', [null]],
    ['what is forgotten', 'the answer comes before it is stored', [null, null]],
    ['what is kept', 'the new pair is kept after it', [null]],
  ] as const) {
    it(`holds, although ${what}`, async () => {
      assert.deepEqual(await meanwhile(slow), { kept: undefined, later })
    })
  }
})

it('the latest of two sign-ins is kept, and ends by a sign-out although it is still being kept', async () => {
  const { begun, wait } = moment()
  const kept: (string | undefined)[] = []
  const answers = [pair('1'), pair('2')]
  const keep = (next: SignedIn | undefined) => {
    const times = kept.push(next?.accessToken)
    return times === 1 ? begun : times === 2 ? wait() : undefined
  }
  const { app, ended, next } = appAt({ token: async () => Response.json(answers.shift()) }, keep, null)
  const [first] = [next(), next()]
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
    const { begun, wait, goOn } = moment()
    const answers = [refused(code, status)]
    const approve = () => wait().then(() => answers.shift())
    const { app, sent, next } = appAt({ approve })
    const params = { path: { id: '1' }, header: { 'Idempotency-Key': 'key' } }
    const call = app.PATCH('/v1/orders/{id}/approve', { params }).catch(() => undefined)
    await begun
    await app.signOut()
    await next()
    goOn()
    await call
    assert.deepEqual(sent, ['Bearer access 1', ...later])
  })
}

it('a request that begins while nobody is signed in is not sent in the name of the next person', async () => {
  const { begun, wait, goOn } = moment()
  const { app, sent, next, read } = appAt({ refresh: wait })
  const earlier = read()
  await begun
  await app.signOut()
  const call = read()
  await next()
  goOn()
  await Promise.all([earlier, call])
  assert.deepEqual(sent, ['Bearer access 1', null])
})

it('a sign-out ends its refresh tokens although it cannot be stored', async () => {
  const { app, ended } = appAt({}, () => Promise.reject(new Error('full')))
  await assert.rejects(app.signOut(), /full/)
  assert.deepEqual(ended, ['token=refresh+1'])
})

it('a sign-out while another sign-in is being kept ends the refresh tokens of both', async () => {
  const { begun, wait, goOn } = moment()
  const { app, ended, next } = appAt({}, (pair) => pair && wait())
  const call = next()
  await begun
  await app.signOut()
  goOn()
  await call
  assert.deepEqual(ended.toSorted(), ['token=refresh+1', 'token=refresh+2'])
})

it('a sign-out holds, although a sign-in that began before it is answered after it', async () => {
  const { wait, goOn } = moment()
  const kept: unknown[] = []
  const { app, sent, ended, next, read } = appAt({ token: wait }, (pair) => void kept.push(pair), null)
  const call = next()
  await app.signOut()
  goOn()
  await call
  await read()
  assert.deepEqual([ended, sent, kept], [['token=refresh+2'], [null], [undefined]])
})

it('a list that one person began to read is not read on in the name of the next', async () => {
  const pages = [Response.json({ items: [{ id: '1' }], hasNextPage: true })]
  const refresh = () => Promise.reject(new Error('of the next'))
  const { app, sent, next } = appAt({ orders: async () => pages.shift(), refresh })
  const reading = async () => {
    for await (const _ of app.orders.each()) await next()
  }
  await assert.rejects(reading, { problem: { code: 'authentication-required', status: 401, detail: '' } })
  assert.deepEqual(sent, ['Bearer access 1', null])
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
