// engine: both
import assert from 'node:assert/strict'
import { before, beforeEach, describe, it } from 'node:test'
import { machineStamp } from '../../server/caller/stamp.ts'
import { sha256 } from '../../server/ids.ts'
import {
  everyCredentialOf,
  liveCredentials,
  newLink,
  newUser,
  refresh,
  setEnabled,
  type TestUser,
} from '../support/accounts.ts'
import { accountEvents } from '../support/administration.ts'
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
  const enable = (enabled: boolean) => setEnabled(service, user, enabled)

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

    it('answers 204 without a credential up to 24 hours after the link was made: the new password signs in, the old one no longer does', async () => {
      assert.equal(answer.status, 204)
      assert.equal(answer.text, '')
      assert.equal((await signInWith(newPassword)).status, 200)
      assertProblem(await signInWith(user.password), 401, 'invalid-credentials')
    })

    it('ends every session and token family of the user', async () => {
      assert.deepEqual(left, { sessions: 0, families: 0 })
      assertProblem(await others.browser.get('/v1/auth/me'), 401, 'authentication-required')
      assertProblem(await refresh(service, others.refreshToken), 401, 'invalid-refresh-token')
    })

    it('leaves an event under the name of the user, as making the link does', async () => {
      const events = await accountEvents(service, user.id)
      const data = { name: user.userName }
      assert.deepEqual(events.slice(-2), [
        { kind: 'link-made', byId: null, data },
        { kind: 'link-used', byId: user.id, data },
      ])
    })

    it('uses a link that is stored as a hash, and leaves no trace of it', async () => {
      assert.ok(stored.includes(sha256(token)) && !stored.includes(token))
      assert.deepEqual(await storedLinks(), [])
    })

    it('logs who used a link, and the address of anyone who guessed', async () => {
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

    it('a used, expired, replaced or unknown link, or one of a disabled user, all with the same bytes', async () => {
      assert.equal((await use()).status, 204)
      const answers = [await use(), await use('x'), await use('A'.repeat(43))]
      const older = await newLink(service, user)
      const newer = await newLink(service, user)
      answers.push(await use(older))
      await enable(false)
      await enable(true)
      answers.push(await use(newer))
      const expired = await newLink(service, user)
      service.advance(24 * hour)
      answers.push(await use(expired))
      for (const answer of answers) assertRefused(answer)
      const seen = answers.map((answer) => JSON.stringify(visibleParts(answer)))
      assert.deepEqual(new Set(seen), new Set([seen[0]]))
    })

    it('a link from before the operator set another password', async () => {
      const change = {
        account: user.account,
        passwordHash: 'hash of another',
        stamp: machineStamp(service.now()),
      }
      await service.db.write('setPassword', change)
      assertRefused(await use())
    })

    it('a password that breaks the rules, and says which; the link still works', async () => {
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

    const writeUse = (passwordHash: string, nowMilliseconds = service.now()) => {
      const stamp = { ...machineStamp(nowMilliseconds), by: user.userName, byId: user.id }
      return service.db.write('useLink', { tokenHash: sha256(token), passwordHash, stamp })
    }

    it('checks the link and its end in the write as well', async () => {
      const newer = await newLink(service, user)
      await assert.rejects(writeUse('hash'), { code: 'link-not-found' })
      token = newer
      const end = service.now() + 24 * hour
      await assert.rejects(writeUse('hash', end), { code: 'link-not-found' })
      await writeUse('hash', end - 1)
    })

    it('accepts exactly one of fifty simultaneous uses, and its password counts', async () => {
      const uses = Array.from({ length: 50 }, (_, index) => writeUse(`hash ${index}`))
      const settled = await Promise.allSettled(uses)
      const taken = settled.flatMap(({ status }, index) => (status === 'fulfilled' ? [`hash ${index}`] : []))
      const { stored } = await service.db.read
        .selectFrom('users')
        .select('password_hash as stored')
        .where('principal_id', '=', user.id)
        .executeTakeFirstOrThrow()
      assert.deepEqual(taken, [stored])
    })

    it('signs nobody in if the user is disabled at the same time, in either order', async () => {
      await Promise.all([use(), enable(false)])
      assertProblem(await signInWith(newPassword), 401, 'invalid-credentials')
      assertProblem(await use(), 404, 'link-not-found')
    })
  })

  describe('gives nothing away', () => {
    beforeEach(invite)

    it('puts the link in no log line and no answer, whatever becomes of it, even if it was pasted into a path', async () => {
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

    it('refuses a malformed token, and names the member', async () => {
      for (const token of [undefined, null, 1, '', 'x'.repeat(513), '\ud800'] as const) {
        const answer = await service.client().post('/v1/auth/links/use', { token, newPassword })
        assertProblem(answer, 400, 'validation-failed')
        assert.equal(answer.body.errors[0].pointer, '#/token')
      }
    })
  })
})
