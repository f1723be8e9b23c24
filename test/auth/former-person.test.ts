// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { machineStamp } from '../../server/caller/stamp.ts'
import { bearerOf, newUser } from '../support/accounts.ts'
import { mailSettings } from '../support/mail.ts'
import { newPasskey } from '../support/passkeys.ts'
import { assertProblem } from '../support/problem.ts'
import { testService } from '../support/service.ts'

/** An account is cached for five minutes, and a request may be admitted long before its body arrives. */
describe('a person who was signed out by an administrator', () => {
  const service = testService({ env: mailSettings })

  it('changes nothing of their account with a token that worked a moment ago', async () => {
    const person = await newUser(service, { roles: ['Admin'] })
    const deputy = await newUser(service, { roles: ['Admin'] })
    const { id: passkey } = await newPasskey(service, person)
    const owner = await bearerOf(service, person)
    const { items } = (await owner.get('/v1/auth/sessions')).body
    const [from, until] = [1, 2].map((hours) => new Date(service.now() + hours * 3_600_000).toISOString())
    const changes: [method: string, path: string, body?: object][] = [
      ['PUT', '/v1/auth/email', { email: `new-${person.email}` }],
      ['PUT', '/v1/auth/me/mail', { waiting: 'at-once', hour: 8, decided: true, noted: true }],
      ['PUT', '/v1/auth/absence', { from, until, deputyId: deputy.id }],
      ['DELETE', `/v1/auth/sessions/${items[0].id}`],
      ['DELETE', '/v1/auth/sessions'],
      ['PATCH', `/v1/auth/passkeys/${passkey}`, { name: 'Mine' }],
      ['DELETE', `/v1/auth/passkeys/${passkey}`],
    ]
    for (const [method, path, body] of changes) {
      // One for each change: a refusal makes the service forget the account.
      const caller = await bearerOf(service, person)
      assert.equal((await caller.get('/v1/auth/me')).status, 200)
      await service.db.write('signOutUser', { account: person.account, stamp: machineStamp(service.now()) })
      assertProblem(await caller.send(method, path, body), 401, 'authentication-required')
    }
  })
})
