// engine: both
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { beforeEach, describe, it, mock } from 'node:test'
import { Passwords } from '../../server/auth/credentials/passwords/passwords.ts'
import { TooManyWaiting } from '../../server/db/errors.ts'
import { keyedHash } from '../../server/ids.ts'
import { newUser, setEnabled, storedCredentials, unknownEmail } from '../support/accounts.ts'
import type { Answer } from '../support/client.ts'
import { withRawDatabase } from '../support/database.ts'
import { assertProblem, visibleParts } from '../support/problem.ts'
import { type Service, setUp, startService, testService } from '../support/service.ts'

const hour = 3_600_000
const day = 24 * hour
const wrong = 'not the password at all'
/** The statuses of six sign-ins with wrong passwords. */
const fiveFree = [401, 401, 401, 401, 401, 429]

describe('login throttle', () => {
  const service = testService({ env: { TRUSTED_PROXIES: '127.0.0.1' } })
  const user = setUp(() => newUser(service), beforeEach)
  /** The database has this in place of an email, which cannot be guessed from it without the key. */
  const hashOf = (counted: string) => keyedHash(service.antiforgeryKey, 'sign-in')(counted)
  let address: string
  beforeEach(async () => {
    address = randomAddress()
  })

  interface Try {
    email?: string
    password?: string
    from?: string
    path?: string
    at?: Pick<Service, 'client'>
  }
  function attempt(one: Try = {}): Promise<Answer> {
    const {
      email = user.email,
      password = wrong,
      from = address,
      path = '/v1/auth/token',
      at = service,
    } = one
    return at.client().post(path, { email, password }, { 'x-forwarded-for': from })
  }
  const succeed = (from = address) => attempt({ password: user.password, from })
  const times = (count: number, one: Try = {}) =>
    Promise.all(Array.from({ length: count }, () => attempt(one)))
  const statuses = (answers: Answer[]) => answers.map((answer) => answer.status).sort()

  /** Asserts a wait of this many whole seconds, rounded up. */
  async function assertWaiting(seconds: number, one: Try = {}): Promise<void> {
    const answer = await attempt(one)
    assertProblem(answer, 429, 'too-many-attempts')
    assert.equal(answer.headers.get('retry-after'), String(seconds))
  }
  /** Fails once from each of these addresses, without hashing. */
  async function failFrom(addresses: string[], email = user.email): Promise<number[]> {
    const verify = mock.method(Passwords.prototype, 'verify', async () => false)
    const answers = await Promise.all(addresses.map((from) => attempt({ email, from })))
    verify.mock.restore()
    return statuses(answers)
  }
  const addresses = (length: number) => Array.from({ length }, randomAddress)
  /**
   * Leaves the rows of this many tries from different addresses: inserts all but the last, then makes the
   * last try.
   */
  async function failFromEverywhere(email = user.email, tries = 100): Promise<number[]> {
    const keyHash = hashOf(`account\n${email}`)
    const row = { key_hash: keyHash, failures: tries - 1, blocked_until: 0, updated_at: service.now() }
    await withRawDatabase(service.databaseUrl, (db) =>
      db
        .insertInto('login_failures')
        .values(row)
        .onConflict((conflict) => conflict.column('key_hash').doUpdateSet(row))
        .execute(),
    )
    return failFrom(addresses(1), email)
  }

  describe('for one account and one address', () => {
    it('doubles the wait with each further wrong password, from 1 second up to 15 minutes', async () => {
      await times(5)
      for (const seconds of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]) {
        await assertWaiting(seconds)
        service.advance(seconds * 1000)
        assertProblem(await attempt(), 401, 'invalid-credentials')
      }
    })

    it('keeps the wait until it ends; tries during the wait do not prolong it', async () => {
      await times(5)
      service.advance(1_000)
      await attempt()
      service.advance(1_000)
      assert.deepEqual(new Set(statuses(await times(10))), new Set([429]))
      service.advance(1_000)
      assertProblem(await attempt(), 401, 'invalid-credentials')
    })

    it('checks no password during a wait: even the right one is refused, and nothing is hashed', async () => {
      await times(5)
      const verify = mock.method(Passwords.prototype, 'verify')
      const refused = await succeed()
      const hashed = verify.mock.callCount()
      verify.mock.restore()
      assertProblem(refused, 429, 'too-many-attempts')
      assert.equal(hashed, 0)
      service.advance(1_000)
      assert.equal((await succeed()).status, 200)
    })

    it('is reset by a success, even after waits: then five tries are free again', async () => {
      await times(5)
      service.advance(1_000)
      await attempt()
      service.advance(2_000)
      assert.equal((await succeed()).status, 200)
      assert.deepEqual(statuses(await times(6)), fiveFree)
      await assertWaiting(1)
    })

    it('neither counts nor forgives a try whose password could not be checked', async () => {
      await times(4)
      const verify = mock.method(Passwords.prototype, 'verify', () => Promise.reject(new TooManyWaiting()))
      const unchecked = await attempt()
      verify.mock.restore()
      assertProblem(unchecked, 503, 'overloaded')
      assertProblem(await attempt(), 401, 'invalid-credentials')
      await assertWaiting(1)
    })

    it('resets after 24 hours, not sooner', async () => {
      await times(5)
      service.advance(day - 60_000)
      assertProblem(await attempt(), 401, 'invalid-credentials')
      await assertWaiting(2)
      service.advance(day)
      assert.deepEqual(statuses(await times(6)), fiveFree)
      await assertWaiting(1)
    })

    it('counts /session and /token together, and ignores the case of the email', async () => {
      const path = '/v1/auth/session'
      await times(2, { path })
      await times(2)
      await attempt({ email: user.email.toUpperCase() })
      assertProblem(await attempt({ path }), 429, 'too-many-attempts')
      assertProblem(await attempt(), 429, 'too-many-attempts')
    })

    it('does not affect other accounts at the address, or other addresses of the account', async () => {
      await times(6)
      const other = await newUser(service)
      assert.equal((await attempt({ email: other.email, password: other.password })).status, 200)
      assert.equal((await succeed(randomAddress())).status, 200)
      assertProblem(await attempt(), 429, 'too-many-attempts')
    })

    it('treats an IPv6 network of 64 bits as one address', async () => {
      const network = `2001:db8:${randomBytes(2).toString('hex')}:7`
      for (let host = 1; host <= 5; host += 1) await attempt({ from: `${network}::${host}` })
      assertProblem(await attempt({ from: `${network}:1:2:3:4` }), 429, 'too-many-attempts')
      const neighbour = `${network.slice(0, -1)}8::1`
      assertProblem(await attempt({ from: neighbour }), 401, 'invalid-credentials')
    })

    it('does not count malformed requests', async () => {
      await Promise.all(Array.from({ length: 10 }, () => attempt({ password: '' })))
      assertProblem(await attempt(), 401, 'invalid-credentials')
    })

    it('counts a disabled user’s right password as wrong', async () => {
      await setEnabled(service, user, false)
      const answers = await times(6, { password: user.password })
      assert.deepEqual(statuses(answers), fiveFree)
    })

    it('stores neither email nor address', async () => {
      await times(3)
      assert.equal((await succeed()).status, 200)
      const rows = await Promise.all(
        (['login_failures', 'known_addresses'] as const).map((table) =>
          service.db.read.selectFrom(table).selectAll().execute(),
        ),
      )
      const stored = JSON.stringify(rows)
      assert.ok(!stored.includes(user.email) && !stored.includes(address))
    })
  })

  describe('in parallel', () => {
    it('hashes five of 50 wrong passwords for a 401, and answers 45 with 429 and Retry-After', async () => {
      const verify = mock.method(Passwords.prototype, 'verify')
      const answers = await times(50)
      const hashed = verify.mock.callCount()
      verify.mock.restore()
      assert.equal(hashed, 5)
      const refused = answers.filter((answer) => answer.status === 429)
      assert.deepEqual([answers.filter((answer) => answer.status === 401).length, refused.length], [5, 45])
      for (const answer of refused) {
        assertProblem(answer, 429, 'too-many-attempts')
        assert.equal(answer.headers.get('retry-after'), '1')
      }
    })

    it('counts a try that waited for another when it is checked, not when it came', async () => {
      await times(4)
      const verify = mock.method(Passwords.prototype, 'verify', async () => {
        service.advance(60_000)
        return false
      })
      const answers = await times(2)
      verify.mock.restore()
      assert.deepEqual(statuses(answers), [401, 401])
    })

    it('accepts 50 right passwords, and counts none of them', async () => {
      assert.deepEqual(new Set(statuses(await times(50, { password: user.password }))), new Set([200]))
      assert.deepEqual(statuses(await times(6)), fiveFree)
    })

    it('accepts 105 right passwords from 105 addresses: successes are never counted', async () => {
      const answers = await Promise.all(addresses(105).map(succeed))
      assert.deepEqual(new Set(statuses(answers)), new Set([200]))
    })
  })

  describe('for one account from all addresses', () => {
    it('allows 100 wrong passwords, then makes every caller wait a second, doubling up to 1 minute', async () => {
      assert.deepEqual(new Set(await failFrom(addresses(100))), new Set([401]))
      for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
        await assertWaiting(seconds, { from: randomAddress() })
        assertProblem(await succeed(randomAddress()), 429, 'too-many-attempts')
        service.advance(seconds * 1000)
        assertProblem(await attempt({ from: randomAddress() }), 401, 'invalid-credentials')
      }
      service.advance(60_000)
      assert.equal((await succeed(randomAddress())).status, 200)
    })

    it('still counts the guesses of others when its owner signs in', async () => {
      await failFromEverywhere(user.email, 99)
      assert.equal((await succeed()).status, 200)
      assertProblem(await attempt({ from: randomAddress() }), 401, 'invalid-credentials')
      await assertWaiting(1, { from: randomAddress() })
    })

    it('resets after 24 hours', async () => {
      await failFromEverywhere()
      service.advance(day)
      assert.deepEqual(new Set(await failFrom(addresses(3))), new Set([401]))
    })
  })

  describe('for an account whose password strangers guess from everywhere', () => {
    it('does not make its owner wait at an address used in the last 30 days, on any instance', async (t) => {
      assert.equal((await succeed()).status, 200)
      service.advance(30 * day - hour)
      await failFromEverywhere()
      await assertWaiting(1, { from: randomAddress() })
      assert.equal((await succeed()).status, 200)
      const instance = await startService({ instanceOf: service, until: t })
      const { password } = user
      assert.equal((await attempt({ at: instance, password, path: '/v1/auth/session' })).status, 200)
    })

    it('admits its owner, however often strangers try', async () => {
      assert.equal((await succeed()).status, 200)
      await failFromEverywhere()
      const tries = Array.from({ length: 150 }, () => attempt({ from: randomAddress() }))
      assert.equal((await succeed()).status, 200)
      assert.ok((await Promise.all(tries)).every(({ status }) => status === 429 || status === 503))
    })

    it('counts tries at a known address separately: five are free there, and they affect no other address', async () => {
      assert.equal((await succeed()).status, 200)
      await failFromEverywhere(user.email, 94)
      assert.deepEqual(statuses(await times(6)), fiveFree)
      await assertWaiting(1)
      assert.deepEqual(new Set(await failFrom(addresses(6))), new Set([401]))
      await assertWaiting(1, { from: randomAddress() })
    })

    it('forgets an address after 30 days, and does not know it for another account', async () => {
      assert.equal((await succeed()).status, 200)
      const other = await newUser(service)
      await failFromEverywhere(other.email)
      await assertWaiting(1, { email: other.email })
      service.advance(30 * day)
      await failFromEverywhere()
      await assertWaiting(1)
    })

    it('knows the /64 of an IPv6 address, even if strangers in its /48 guess', async () => {
      const home = randomNetwork()
      assert.equal((await succeed(`${home}:7::1`)).status, 200)
      await failFrom(Array.from({ length: 20 }, (_, index) => `${home}:a${index}::1`))
      await failFromEverywhere()
      assertProblem(await succeed(`${home}:8::1`), 429, 'too-many-attempts')
      assert.equal((await succeed(`${home}:7:1:2:3:4`)).status, 200)
    })

    it('remembers a hundred addresses, and then forgets the least recently used', async () => {
      assert.equal((await succeed()).status, 200)
      service.advance(1)
      const kept = randomAddress()
      assert.equal((await succeed(kept)).status, 200)
      service.advance(1)
      const account_hash = hashOf(`account\n${user.email}`)
      const others = addresses(98).map((pair_hash) => ({
        pair_hash,
        account_hash,
        signed_in_at: service.now(),
      }))
      await withRawDatabase(service.databaseUrl, (db) =>
        db.insertInto('known_addresses').values(others).execute(),
      )
      assert.equal((await succeed(randomAddress())).status, 200)
      await failFromEverywhere()
      assert.equal((await succeed(kept)).status, 200)
      assertProblem(await succeed(), 429, 'too-many-attempts')
    })
  })

  describe('for one account and one IPv6 network of 48 bits', () => {
    it('allows 20 wrong passwords, then makes the whole network wait, doubling up to 15 minutes', async () => {
      const network = randomNetwork()
      const everywhere = Array.from({ length: 20 }, (_, index) => `${network}:${index + 1}::1`)
      assert.deepEqual(new Set(await failFrom(everywhere)), new Set([401]))
      for (const [turn, seconds] of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900].entries()) {
        const from = `${network}:f${turn}::1`
        await assertWaiting(seconds, { from })
        service.advance(seconds * 1000)
        assertProblem(await attempt({ from }), 401, 'invalid-credentials')
      }
      assertProblem(await attempt({ from: `${randomNetwork()}:1::1` }), 401, 'invalid-credentials')
    })

    it('does not count a right password', async () => {
      const network = randomNetwork()
      for (let count = 0; count < 25; count += 1) {
        assert.equal((await succeed(`${network}:${count + 1}::1`)).status, 200)
      }
    })
  })

  describe('for accounts that do not exist', () => {
    it('is the same, answer for answer', async () => {
      const email = unknownEmail()
      for (let turn = 0; turn < 7; turn += 1) {
        const [unknown, known] = await Promise.all([attempt({ email }), attempt()])
        assert.deepEqual(visibleParts(unknown), visibleParts(known))
        assert.equal(unknown.headers.get('retry-after'), known.headers.get('retry-after'))
      }
      service.advance(1_000)
      assert.deepEqual([(await attempt({ email })).status, (await attempt()).status], [401, 401])
      await assertWaiting(2, { email })
      await assertWaiting(2)
    })

    it('is the same from all addresses', async () => {
      const email = unknownEmail()
      assert.deepEqual(new Set(await failFromEverywhere(email)), new Set([401]))
      await assertWaiting(1, { email, from: randomAddress() })
    })
  })

  describe('settings and storage', () => {
    it('has no setting to scale it, and uses the peer’s address if no proxy is configured', async (t) => {
      const other = await startService({ inside: true, env: { RATE_LIMIT_FACTOR: '1000' }, until: t })
      const fail = () => attempt({ at: other, email: 'viewer@example.com', from: randomAddress() })
      assert.deepEqual(statuses(await Promise.all(Array.from({ length: 6 }, fail))), fiveFree)
    })

    it('uses the address that the proxy saw, not one that the client wrote', async () => {
      for (let turn = 0; turn < 5; turn += 1) await attempt({ from: `${randomAddress()}, ${address}` })
      assertProblem(await attempt({ from: `${randomAddress()}, ${address}` }), 429, 'too-many-attempts')
    })

    it('is in the database: all instances share it, and a restart forgets nothing', async (t) => {
      await times(5)
      const instance = await startService({ instanceOf: service, until: t })
      assertProblem(await attempt({ at: instance }), 429, 'too-many-attempts')
    })

    it('does not affect existing sessions and tokens', async () => {
      const { body } = await succeed()
      await times(6)
      const caller = service.client().withBearer(body.accessToken)
      assert.equal((await caller.get('/v1/auth/me')).status, 200)
      const before = await storedCredentials(service)
      assertProblem(await attempt(), 429, 'too-many-attempts')
      assert.equal(await storedCredentials(service), before)
    })
  })
})

/** An address of 10.0.0.0/8 that no other test uses. */
function randomAddress(): string {
  return `10.${[...randomBytes(3)].join('.')}`
}

/** A /48 that no other test uses. */
function randomNetwork(): string {
  const [first = '', second = ''] = randomBytes(4).toString('hex').match(/.{4}/g) ?? []
  return `2001:${first}:${second}`
}
