import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { before, describe, it, mock } from 'node:test'
import { PasswordJudge } from '../../server/auth/credentials/passwords/judge.ts'
import { nobodysHash, Passwords } from '../../server/auth/credentials/passwords/passwords.ts'
import { TooManyWaiting } from '../../server/db/errors.ts'
import { toProblem } from '../../server/http/errors.ts'
import { Problem } from '../../server/problems/problems.ts'
import { newUser, setEnabled } from '../support/accounts.ts'
import { hashOf } from '../support/cheap-hash.ts'
import { assertProblem } from '../support/problem.ts'
import { setUp, testService } from '../support/service.ts'

const password = 'quiet harbour lanterns at dusk'

describe('passwords', () => {
  const passwords = new Passwords()

  describe('a hash', () => {
    it('is a PHC string of Argon2id version 19 with 19 MiB, 2 passes, 1 lane, 16 bytes of salt, 32 of tag', async () => {
      const text = await passwords.hash(password)
      assert.match(text, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    })

    it('has a new salt each time', async () => {
      const texts = await Promise.all([passwords.hash(password), passwords.hash(password)])
      assert.notEqual(texts[0], texts[1])
      assert.deepEqual(await Promise.all(texts.map((text) => passwords.verify(text, password))), [true, true])
    })

    it('is verified with the parameters that it names, so that older ones keep working', async () => {
      const { hash } = await import('@node-rs/argon2')
      const old = await hash(password, { algorithm: 2, memoryCost: 8192, timeCost: 3, parallelism: 1 })
      assert.equal(await passwords.verify(old, password), true)
      assert.equal(await passwords.verify(old, `${password}x`), false)
    })

    for (const other of [
      `${password} `,
      ` ${password}`,
      password.toUpperCase(),
      password.slice(1),
      'x',
      '\0',
    ]) {
      it(`does not match ${JSON.stringify(other)}`, async () => {
        assert.equal(await passwords.verify(await passwords.hash(password), other), false)
      })
    }

    it('matches however the keyboard composes its characters', async () => {
      const [composed, decomposed] = ['Käfer über Öfen', 'Ka\u0308fer u\u0308ber O\u0308fen']
      assert.equal(await passwords.verify(await passwords.hash(decomposed), composed), true)
      assert.equal(await passwords.verify(await passwords.hash(composed), decomposed), true)
      assert.equal(await passwords.verify(await passwords.hash(composed), 'Kafer uber Ofen'), false)
    })

    it('distinguishes passwords of 256 code points by the last one', async () => {
      const long = '🔑'.repeat(255)
      const text = await passwords.hash(`${long}a`)
      assert.deepEqual(
        await Promise.all([passwords.verify(text, `${long}a`), passwords.verify(text, `${long}b`)]),
        [true, false],
      )
    })
  })

  describe('an unknown user', () => {
    for (const guess of ['', '\0', 'x', password, 'A'.repeat(43)]) {
      it(`is never verified: ${JSON.stringify(guess)}`, async () => {
        assert.equal(await passwords.verify(undefined, guess), false)
      })
    }

    it('costs the same Argon2id work as a known one: same algorithm, parameters, and lengths of salt and tag', async () => {
      const shape = (hash: string) =>
        hash.split('$').map((part, index) => (index < 4 ? part : Buffer.from(part, 'base64').length))
      assert.deepEqual(shape(nobodysHash), shape(await passwords.hash(password)))
    })

    describe('at the endpoints', () => {
      const service = testService({ inside: true })
      const user = setUp(() => newUser(service))

      for (const path of ['/v1/auth/session', '/v1/auth/token']) {
        it(`costs one verification like any other: POST ${path}`, async () => {
          const disabled = await newUser(service)
          await setEnabled(service, disabled, false)
          const verify = mock.method(Passwords.prototype, 'verify')
          const calls: number[] = []
          for (const email of ['nobody@example.com', user.email, disabled.email]) {
            await service.client().post(path, { email, password: 'wrong' })
            calls.push(verify.mock.callCount())
          }
          verify.mock.restore()
          assert.deepEqual(calls, [1, 2, 3])
        })
      }

      it('answer 503 overloaded with Retry-After if the queue is full, and count no try', async (t) => {
        const verify = t.mock.method(Passwords.prototype, 'verify', () =>
          Promise.reject(new Problem('overloaded', { headers: { 'retry-after': '1' } })),
        )
        const attempt = (guess: string) =>
          service.client().post('/v1/auth/token', { email: user.email, password: guess })
        for (let turn = 0; turn < 8; turn += 1) {
          const answer = await attempt(user.password)
          assertProblem(answer, 503, 'overloaded')
          assert.equal(answer.headers.get('retry-after'), '1')
        }
        verify.mock.restore()
        assert.equal((await attempt(user.password)).status, 200)
      })
    })
  })

  describe('the queue', () => {
    const cores = availableParallelism()
    const waitingLimit = 128
    /** With the lowest cost, because these tests are not about how long a hash takes. */
    let cheapHash: string
    before(async () => {
      cheapHash = await hashOf(password)
    })
    const verifyMany = (queue: Passwords, count: number, hash = cheapHash) =>
      Array.from({ length: count }, () => queue.verify(hash, 'x'))

    it('is bounded: work beyond it is refused at once with Retry-After, and all other work is done', async () => {
      const ended: unknown[] = []
      const all = verifyMany(new Passwords(), cores + waitingLimit + 5)
      await Promise.all(all.map((one) => one.catch((error: unknown) => error).then((end) => ended.push(end))))
      for (const refused of ended.slice(0, 5)) {
        assert.ok(refused instanceof TooManyWaiting)
        const { code, headers } = toProblem(refused)
        assert.deepEqual({ code, retry: headers['retry-after'] }, { code: 'overloaded', retry: '1' })
      }
      assert.deepEqual(ended.slice(5), Array(cores + waitingLimit).fill(false))
    })

    it('accepts new work once it is empty, even after hashes that failed', async () => {
      const queue = new Passwords()
      const broken = await Promise.allSettled(verifyMany(queue, cores * 3, 'no PHC string'))
      assert.deepEqual(new Set(broken.map((result) => result.status)), new Set(['rejected']))
      const results = await Promise.all(verifyMany(queue, cores + 20))
      assert.deepEqual(new Set(results), new Set([false]))
    })

    it('runs one hash per core at a time, and the others wait', async () => {
      const queue = new Passwords()
      const all = verifyMany(queue, cores * 3)
      assert.equal(queue.waiting, cores * 2)
      await Promise.race(all)
      assert.ok(queue.waiting < cores * 2)
      await Promise.all(all)
      assert.equal(queue.waiting, 0)
    })

    it('leaves the event loop free while hashes are made', async () => {
      const queue = new Passwords()
      const before = performance.eventLoopUtilization()
      await Promise.all(verifyMany(queue, cores * 8, nobodysHash))
      const { utilization } = performance.eventLoopUtilization(before)
      assert.ok(utilization < 0.5, `${utilization}`)
    })
  })

  it('the check of new passwords makes no other account wait, however many passwords one account sends', async () => {
    const judge = new PasswordJudge()
    await assert.rejects(judge.faultOf(5 as never, ['broken']), TypeError)
    const ended: string[] = []
    // Too short, so it is refused without searching the lists, which takes long.
    const judgeOne = async (name: string) => {
      const outcome = await judge
        .faultOf('short', [name])
        .catch(toProblem)
        .then((end) => (end instanceof Problem ? end.code : end))
      ended.push(`${name}: ${outcome}`)
    }
    const of = (name: string) => `${name}: has fewer than 15 characters`
    await Promise.all([...Array(9).fill('many'), 'other'].map(judgeOne))
    assert.deepEqual(ended.slice(0, 3), ['many: overloaded', of('many'), of('other')])
    assert.deepEqual(ended.slice(3), Array(7).fill(of('many')))
  })
})
