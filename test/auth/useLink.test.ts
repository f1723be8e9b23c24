import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { machineStamp } from '../../server/audit/stamp.ts'
import {
  eventsOf,
  everyCredentialOf,
  liveCredentials,
  newLink,
  newUser,
  storedCredentials,
  type TestUser,
} from '../support/accounts.ts'
import type { Answer } from '../support/client.ts'
import { assertProblem, visibleParts } from '../support/problem.ts'
import { sharedService } from '../support/shared-service.ts'

const newPassword = 'seven grey herons by the weir'
const hour = 3_600_000

describe('useLink', () => {
  const service = sharedService()
  let user: TestUser
  let path: string
  let token: string
  beforeEach(async () => {
    user = await newUser(service)
    ;({ path, token } = await newLink(service, user))
  })

  const use = (at = path, password = newPassword) => service.client().post(at, { newPassword: password })
  const signInWith = (password: string) =>
    service.client().post('/v1/auth/token', { email: user.email, password })
  const setEnabled = (enabled: boolean) =>
    service.db.write('setAccountEnabled', {
      account: user.account,
      enabled,
      stamp: machineStamp(service.now()),
    })

  describe('succeeds', () => {
    it('with 204, without a credential: the new password signs in, the old one no longer', async () => {
      const answer = await use()
      assert.equal(answer.status, 204)
      assert.equal(answer.text, '')
      assert.equal((await signInWith(newPassword)).status, 200)
      assertProblem(await signInWith(user.password), 401, 'invalid-credentials')
    })

    it('and ends every session and token family of the user', async () => {
      const { browser, refreshToken } = await everyCredentialOf(service, user)
      assert.equal((await use()).status, 204)
      assert.deepEqual(await liveCredentials(service, user), { sessions: 0, families: 0 })
      assertProblem(await browser.get('/v1/auth/me'), 401, 'authentication-required')
      const refreshed = await service.client().post('/v1/auth/token/refresh', { refreshToken })
      assertProblem(refreshed, 401, 'invalid-refresh-token')
    })

    it('until 24 hours after it was made', async () => {
      service.advance(24 * hour - 1)
      assert.equal((await use()).status, 204)
    })

    it('and leaves an event under the name of the user, as making it does', async () => {
      await use()
      const events = (await eventsOf(service, user)).filter(({ kind }) => kind.startsWith('link-'))
      // Both of one millisecond, by two processes.
      events.sort((a, b) => (a.kind < b.kind ? -1 : 1))
      const data = JSON.stringify({ name: user.userName })
      assert.deepEqual(
        events.map(({ kind, by_id, data }) => ({ kind, by_id, data })),
        [
          { kind: 'link-made', by_id: null, data },
          { kind: 'link-used', by_id: user.id, data },
        ],
      )
    })
  })

  describe('rejects', () => {
    const assertRefused = (answer: Answer) => assertProblem(answer, 404, 'link-not-found')

    it('a used, an expired, a replaced and an unknown link, and that of a disabled user, alike to the byte', async () => {
      assert.equal((await use()).status, 204)
      const answers = [
        await use(),
        await use('/v1/auth/links/x'),
        await use(`/v1/auth/links/${'A'.repeat(43)}`),
      ]
      const { path: older } = await newLink(service, user)
      const { path: newer } = await newLink(service, user)
      answers.push(await use(older))
      await setEnabled(false)
      await setEnabled(true)
      answers.push(await use(newer))
      const { path: expired } = await newLink(service, user)
      service.advance(24 * hour)
      answers.push(await use(expired))
      for (const answer of answers) assertRefused(answer)
      const seen = answers.map((answer) => JSON.stringify(visibleParts(answer)))
      assert.deepEqual(new Set(seen), new Set([seen[0]]))
    })

    it('a link of before another password was set by the operator', async () => {
      const change = {
        account: user.account,
        passwordHash: 'hash of another',
        stamp: machineStamp(service.now()),
      }
      await service.db.write('setPassword', change)
      assertRefused(await use())
    })

    it('a password that breaks the rules, and says which; the link serves on', async () => {
      for (const [password, said] of [
        ['x'.repeat(14), /15 to 256 characters/],
        ['password password password', /common/],
        [`${user.userName} ${user.userName}`, /common/],
        ['a line\nbreak among the words', /control character/],
      ] as const) {
        const answer = await use(path, password)
        assertProblem(answer, 400, 'validation-failed')
        assert.equal(answer.body.errors[0].pointer, '#/newPassword')
        assert.match(answer.body.errors[0].detail, said)
      }
      assert.equal((await use()).status, 204)
    })

    it('other spellings of the link', async () => {
      for (const spelling of [token.toLowerCase(), `${token}=`, ` ${token}`, token.slice(0, -1)]) {
        assertRefused(await use(`/v1/auth/links/${encodeURIComponent(spelling)}`))
      }
    })
  })

  describe('conflicts', () => {
    it('of fifty uses that reach the database at once exactly one is taken, and its password holds', async () => {
      const { tokenHash } = await service.db.read
        .selectFrom('one_time_links')
        .select('token_hash as tokenHash')
        .where('principal_id', '=', user.id)
        .executeTakeFirstOrThrow()
      const uses = Array.from({ length: 50 }, (_, index) => {
        const stamp = { ...machineStamp(service.now()), by: user.userName, byId: user.id }
        return service.db.write('useLink', { tokenHash, passwordHash: `hash ${index}`, stamp })
      })
      const settled = await Promise.allSettled(uses)
      const taken = settled.flatMap(({ status }, index) => (status === 'fulfilled' ? [`hash ${index}`] : []))
      const { stored } = await service.db.read
        .selectFrom('users')
        .select('password_hash as stored')
        .where('principal_id', '=', user.id)
        .executeTakeFirstOrThrow()
      assert.deepEqual(taken, [stored])
    })

    it('with a disable: whoever comes first, nobody is signed in by it afterwards', async () => {
      await Promise.all([use(), setEnabled(false)])
      assertProblem(await signInWith(newPassword), 401, 'invalid-credentials')
      assertProblem(await use(), 404, 'link-not-found')
    })
  })

  describe('gives nothing away', () => {
    it('is stored as a hash, and leaves no trace when it was used', async () => {
      assert.ok(!(await storedCredentials(service)).includes(token))
      await use()
      const rows = await service.db.read
        .selectFrom('one_time_links')
        .selectAll()
        .where('principal_id', '=', user.id)
        .execute()
      assert.deepEqual(rows, [])
    })

    it('is in no log line and in no answer, however its path is spelt and whatever becomes of it', async () => {
      const secret = token.slice(0, 16)
      const escaped = [...token].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')
      const spellings = [
        path,
        `${path}/`,
        `${path}/more`,
        `${path}?x=1`,
        `${path}%`,
        path.replace('links', 'Links'),
        path.replace('links', '%6Cinks'),
        path.replace('links/', 'links%2F'),
        `/v1/auth/links/${escaped}`,
        `/v1/auth/links/x${token}`,
        path.replace('links', '/links'),
        path.replace('links', 'link'),
        path.replace('/v1/auth/links', '/link'),
        path.replace('links', '%256cinks'),
        `/v1/auth/links;/${escaped}`,
      ]
      for (const spelling of spellings) {
        for (const method of ['GET', 'POST', 'PUT', 'OPTIONS']) {
          const requestId = `link-${method}-${spellings.indexOf(spelling)}`
          const body = method === 'POST' ? { newPassword: 'x' } : undefined
          const answer = await service.client().send(method, spelling, body, { 'x-request-id': requestId })
          assert.ok(!answer.text.includes(secret), answer.text)
          assert.ok(![...answer.headers.values()].join('\n').includes(secret))
        }
      }
      await use()
      const logged = JSON.stringify(await service.log())
      assert.match(logged, /"path":"\/v1\/auth\/links\/\*\*\*"/)
      assert.ok(!logged.includes(secret) && !logged.includes(escaped.slice(0, 48)))
    })

    it('tells the log who used one, and from where somebody guessed', async () => {
      await use('/v1/auth/links/x')
      await use()
      const events = (await service.log())
        .filter(({ event }) => typeof event === 'string' && event.startsWith('link-'))
        .slice(-2)
        .map(({ event, principalId, address }) => ({ event, principalId, address }))
      assert.deepEqual(events, [
        { event: 'link-refused', principalId: undefined, address: '127.0.0.1' },
        { event: 'link-used', principalId: user.id, address: '127.0.0.1' },
      ])
    })
  })
})
