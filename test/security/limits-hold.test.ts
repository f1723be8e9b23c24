import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { newUser, signIn, tokenPair } from '../support/accounts.ts'
import type { Answer, Client } from '../support/client.ts'
import { setUp, testService } from '../support/service.ts'

const order = { customer: 'Acme', total: 1 }

/** A tenth of the limits of section 8 of the contract. Each flood comes from a different address. */
describe('a flood from one address or one caller meets its limit, and affects no one else', () => {
  const service = testService({
    env: { RATE_LIMIT_FACTOR: '0.1', RATE_LIMIT_WRITE: '300', TRUSTED_PROXIES: '127.0.0.1' },
  })
  const bystander = setUp(() => newUser(service, { roles: ['Admin'] }))
  let bystanderToken: string
  let addresses = 0
  before(async () => {
    bystanderToken = (await tokenPair(service, bystander)).accessToken
  })

  const newAddress = () => `203.0.113.${++addresses}`
  function from(address: string, bearer?: string): Client {
    const caller = service.client()
    caller.headers['x-forwarded-for'] = address
    return bearer === undefined ? caller : caller.withBearer(bearer)
  }
  /** Sends until the limit refuses a request, and returns how many were admitted. */
  async function flood(send: (turn: number) => Promise<Answer>, limit: number): Promise<number> {
    for (let turn = 0; turn <= limit; turn += 1) {
      const { status, body, headers } = await send(turn)
      if (status !== 429) continue
      assert.equal(body.code, 'rate-limited')
      assert.match(headers.get('retry-after') ?? '', /^\d+$/)
      return turn
    }
    return limit + 1
  }
  /**
   * A caller with another credential is served, even from the flooded address, and so are other addresses.
   */
  async function assertOthersServed(address: string): Promise<void> {
    for (const place of [address, newAddress()]) {
      const caller = from(place, bystanderToken)
      assert.equal((await caller.get('/v1/orders')).status, 200)
      assert.equal((await caller.post('/v1/orders', order)).status, 201)
      assert.equal((await from(place).get('/health')).status, 200)
    }
    assert.equal((await from(newAddress()).get('/v1/none')).status, 404)
    assert.equal((await from(newAddress()).post('/v1/auth/token', bystander.credentials)).status, 200)
  }

  const floods: [what: string, limit: number, send: (caller: Client, turn: number) => Promise<Answer>][] = [
    ['wrong tokens', 30, (caller, turn) => caller.withBearer(`x${turn}`).get('/v1/orders')],
    [
      'refresh tokens that never were',
      30,
      (caller) => caller.post('/v1/auth/token/refresh', { refreshToken: 'P'.repeat(112) }),
    ],
    [
      'sign-ins',
      6,
      (caller, turn) =>
        caller.post('/v1/auth/session', { email: `nobody${turn}@example.com`, password: 'x' }),
    ],
  ]
  for (const [what, limit, send] of floods) {
    it(`of ${what}`, async () => {
      const address = newAddress()
      const flooder = from(address)
      assert.equal(await flood((turn) => send(flooder, turn), limit), limit)
      await assertOthersServed(address)
    })
  }

  it('of reads by one user: the user’s writes continue, and so do others at the same address', async () => {
    const address = newAddress()
    const token = (await tokenPair(service, await newUser(service, { roles: ['Admin'] }))).accessToken
    const flooder = from(address, token)
    assert.equal(await flood(() => flooder.get('/v1/auth/me'), 120), 120)
    assert.equal((await from(newAddress(), token).get('/v1/orders')).status, 429)
    assert.equal((await flooder.post('/v1/orders', order)).status, 201)
    await assertOthersServed(address)
  })

  it('of writes by one user, refused ones included: the user’s reads continue, and so do others', async () => {
    const address = newAddress()
    const token = (await tokenPair(service, await newUser(service, { roles: ['Viewer'] }))).accessToken
    const flooder = from(address, token)
    assert.equal(await flood(() => flooder.post('/v1/orders', order), 30), 30)
    assert.equal((await flooder.get('/v1/orders')).status, 200)
    await assertOthersServed(address)
  })

  it('of guesses at one account: they end no session or token, and its owner can sign in from elsewhere', async () => {
    const user = await newUser(service, { roles: ['Admin'] })
    const browser = await signIn(service, user)
    const { accessToken } = await tokenPair(service, user)
    const guess = { ...user.credentials, password: 'not the password at all' }
    const statuses = []
    for (let turn = 0; turn < 6; turn += 1) {
      statuses.push((await from('198.51.100.66').post('/v1/auth/token', guess)).status)
    }
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429])
    assert.equal((await browser.get('/v1/auth/me')).status, 200)
    assert.equal((await from('198.51.100.66', accessToken).get('/v1/auth/me')).status, 200)
    assert.equal((await from(newAddress()).post('/v1/auth/token', user.credentials)).status, 200)
  })
})
