import assert from 'node:assert/strict'
import { before, beforeEach, describe, it } from 'node:test'
import { machineStamp } from '../../server/audit/audit.ts'
import { sha256 } from '../../server/ids.ts'
import {
  eventsOf,
  everyCredentialOf,
  liveCredentials,
  newLink,
  newUser,
  refresh,
  type TestUser,
} from '../support/accounts.ts'
import type { Answer } from '../support/client.ts'
import { assertProblem, visibleParts } from '../support/problem.ts'
import { testService } from '../support/service.ts'

const newPassword = 'seven grey herons by the weir'
const hour = 3_600_000

describe('useLink', () => {
  const service = testService()
  let user: TestUser
  let token: string
  const invite = async () => {
    user = await newUser(service)
    token = await newLink(service, user)
  }

  const use = (presented = token, password = newPassword) =>
    service.client().post('/v1/auth/links/use', { token: presented, newPassword: password })
  const signInWith = (password: string) =>
    service.client().post('/v1/auth/token', { email: user.email, password })
  const storedLinks = () =>
    service.db.read.selectFrom('one_time_links').selectAll().where('principal_id', '=', user.id).execute()
  const setEnabled = (enabled: boolean) =>
    service.db.write('setAccountEnabled', {
      account: user.account,
      enabled,
      stamp: machineStamp(service.now()),
    })

  /** One use, in the last millisecond, for all tests: judging a new password takes a third of a second. */
  describe('succeeds', () => {
    let others: Awaited<ReturnType<typeof everyCredentialOf>>
    let stored: string
    let answer: Answer
    let left: { sessions: number; families: number }
    before(async () => {
      await invite()
      stored = JSON.stringify(await storedLinks())
      service.advance(24 * hour - 1)
      others = await everyCredentialOf(service, user)
      await use('x')
      answer = await use()
      left = await liveCredentials(service, user)
    })

    it('with 204, without a credential, until 24 hours after it was made: the new password signs in, the old one no longer', async () => {
      assert.equal(answer.status, 204)
      assert.equal(answer.text, '')
      assert.equal((await signInWith(newPassword)).status, 200)
      assertProblem(await signInWith(user.password), 401, 'invalid-credentials')
    })

    it('and ends every session and token family of the user', async () => {
      assert.deepEqual(left, { sessions: 0, families: 0 })
      assertProblem(await others.browser.get('/v1/auth/me'), 401, 'authentication-required')
      assertProblem(await refresh(service, others.refreshToken), 401, 'invalid-refresh-token')
    })

    it('and leaves an event under the name of the user, as making it does', async () => {
      const events = (await eventsOf(service, user)).filter(({ kind }) => kind.startsWith('link-'))
      const data = JSON.stringify({ name: user.userName })
      assert.deepEqual(
        events.map(({ kind, by_id, data }) => ({ kind, by_id, data })),
        [
          { kind: 'link-made', by_id: null, data },
          { kind: 'link-used', by_id: user.id, data },
        ],
      )
    })

    it('is stored as a hash, and leaves no trace when it was used', async () => {
      assert.ok(stored.includes(sha256(token)) && !stored.includes(token))
      assert.deepEqual(await storedLinks(), [])
    })

    it('tells the log who used one, and from where somebody guessed', async () => {
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

  describe('rejects', () => {
    beforeEach(invite)

    const assertRefused = (answer: Answer) => assertProblem(answer, 404, 'link-not-found')

    it('a used, an expired, a replaced and an unknown link, and that of a disabled user, alike to the byte', async () => {
      assert.equal((await use()).status, 204)
      const answers = [await use(), await use('x'), await use('A'.repeat(43))]
      const older = await newLink(service, user)
      const newer = await newLink(service, user)
      answers.push(await use(older))
      await setEnabled(false)
      await setEnabled(true)
      answers.push(await use(newer))
      const expired = await newLink(service, user)
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
        [`${user.userName} ${user.userName}`, /common/],
        ['a line\nbreak among the words', /control character/],
      ] as const) {
        const answer = await use(token, password)
        assertProblem(answer, 400, 'validation-failed')
        assert.equal(answer.body.errors[0].pointer, '#/newPassword')
        assert.match(answer.body.errors[0].detail, said)
      }
      assert.equal((await use()).status, 204)
    })

    it('other spellings of the link', async () => {
      for (const spelling of [token.toLowerCase(), `${token}=`, ` ${token}`, token.slice(0, -1)]) {
        assertRefused(await use(spelling))
      }
    })
  })

  describe('conflicts', () => {
    beforeEach(invite)

    it('of fifty uses that reach the database at once exactly one is taken, and its password holds', async () => {
      const tokenHash = sha256(token)
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

    it('with a disable: in either order, it signs nobody in afterwards', async () => {
      await Promise.all([use(), setEnabled(false)])
      assertProblem(await signInWith(newPassword), 401, 'invalid-credentials')
      assertProblem(await use(), 404, 'link-not-found')
    })
  })

  describe('gives nothing away', () => {
    beforeEach(invite)

    it('is in no log line and in no answer, whatever becomes of it, and pasted into a path neither', async () => {
      const secret = token.slice(0, 16)
      const escaped = [...token].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')
      const pasted = [token, `${token}/more`, `${token}?x=1`, `${token}%`, `x${token}`, escaped]
      const answers = [await use(token, 'x'), await use(`x${token}`), await use(token.repeat(20))]
      for (const path of pasted.flatMap((text) => [`/link/${text}`, `/v1/auth/links/${text}`])) {
        for (const method of ['GET', 'POST', 'PUT', 'OPTIONS']) {
          answers.push(await service.client().send(method, path, method === 'POST' ? {} : undefined))
        }
      }
      for (const answer of [...answers, await use()]) {
        assert.ok(!answer.text.includes(secret), answer.text)
        assert.ok(![...answer.headers.values()].join('\n').includes(secret))
      }
      const logged = JSON.stringify(await service.log())
      assert.match(logged, /"path":"\/v1\/auth\/links\/\*\*\*"/)
      assert.ok(!logged.includes(secret) && !logged.includes(escaped.slice(0, 48)))
    })

    it('refuses what is no token, and names the member', async () => {
      for (const token of [undefined, null, 1, '', 'x'.repeat(513), '\ud800'] as const) {
        const answer = await service.client().post('/v1/auth/links/use', { token, newPassword })
        assertProblem(answer, 400, 'validation-failed')
        assert.equal(answer.body.errors[0].pointer, '#/token')
      }
    })
  })
})
