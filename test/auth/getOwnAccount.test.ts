import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { machineStamp } from '../../server/caller/stamp.ts'
import { newUser, signIn, tokenPair } from '../support/accounts.ts'
import { hashOf } from '../support/cheap-hash.ts'
import { testService } from '../support/service.ts'

const path = '/v1/auth/me/account'

describe('getOwnAccount', () => {
  const service = testService()

  it('succeeds by cookie and by bearer, with the email', async () => {
    const user = await newUser(service, { roles: ['Viewer', 'Operator'] })
    const { id, userName, email } = user
    const credentials = { hasPassword: true, hasCompanyAccount: false }
    const expected = { id, userName, email, roles: ['Operator', 'Viewer'], timeZone: null, ...credentials }
    const { accessToken } = await tokenPair(service, user)
    for (const caller of [await signIn(service, user), service.client().withBearer(accessToken)]) {
      const { status, body } = await caller.get(path)
      assert.deepEqual({ status, body }, { status: 200, body: expected })
    }
  })

  it('includes the time zone if one is stored', async () => {
    const passwordHash = await hashOf('quiet harbour lanterns at dusk')
    const stamp = machineStamp(service.now() - 1_000)
    const account = { userName: 'zoned', email: 'zoned@example.com', timeZone: 'Asia/Tokyo', roles: [] }
    await service.db.write('addUser', { ...account, passwordHash, stamp })
    const browser = service.client()
    await browser.post('/v1/auth/session', {
      email: account.email,
      password: 'quiet harbour lanterns at dusk',
    })
    assert.equal((await browser.get(path)).body.timeZone, 'Asia/Tokyo')
  })
})
