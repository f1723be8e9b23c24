import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bearerOf, newUser } from '../support/accounts.ts'
import { mailSettings } from '../support/mail.ts'
import { assertProblem } from '../support/problem.ts'
import { testService } from '../support/service.ts'

const never = { waiting: 'never', hour: 8, decided: false, noted: false }

describe('getOwnMail and setOwnMail', () => {
  const service = testService({ env: mailSettings })

  it('keep what was set, and begin with no mail', async () => {
    const user = await newUser(service)
    const caller = await bearerOf(service, user)
    assert.deepEqual((await caller.get('/v1/auth/me/mail')).body, { ...never, timeZone: 'UTC' })
    const set = { waiting: 'daily', hour: 17, decided: true, noted: true }
    assert.equal((await caller.send('PUT', '/v1/auth/me/mail', set)).status, 204)
    assert.deepEqual((await caller.get('/v1/auth/me/mail')).body, { ...set, timeZone: 'UTC' })
  })

  it('reject what is no setting, and what nobody knows', async () => {
    const caller = await bearerOf(service, await newUser(service))
    for (const wrong of [
      { waiting: 'weekly' },
      { waiting: null },
      { hour: 24 },
      { hour: -1 },
      { hour: '08' },
      { decided: 1 },
      { noted: null },
      { more: true },
    ]) {
      const answer = await caller.send('PUT', '/v1/auth/me/mail', { ...never, ...wrong })
      assertProblem(answer, 400, 'validation-failed')
      assert.equal(answer.body.errors[0].pointer, `#/${Object.keys(wrong)[0]}`)
    }
  })

  it('are for people', async () => {
    const demo = await service.bearer('demo-service')
    assertProblem(await demo.get('/v1/auth/me/mail'), 403, 'not-for-services')
    assertProblem(await service.client().get('/v1/auth/me/mail'), 401, 'authentication-required')
  })
})

describe('mail settings without a mail server', () => {
  const service = testService()

  it('are refused', async () => {
    const viewer = await service.bearer('viewer')
    assertProblem(await viewer.get('/v1/auth/me/mail'), 409, 'mail-unavailable')
    assertProblem(await viewer.send('PUT', '/v1/auth/me/mail', never), 409, 'mail-unavailable')
  })
})
