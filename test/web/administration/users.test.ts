import assert from 'node:assert/strict'
import { it } from 'node:test'
import '../../support/page.ts'

const { isInvited } = await import('../../../web/src/administration/queries.ts')

it('a user is invited until a link, a company account or a passkey has signed them in', () => {
  const invited = { hasPassword: false, hasCompanyAccount: false, lastSignInAtUtc: null }
  const states = [
    invited,
    { ...invited, hasPassword: true },
    { ...invited, hasCompanyAccount: true },
    { ...invited, lastSignInAtUtc: '2026-11-28T12:00:00.000Z' },
  ]
  assert.deepEqual(
    states.map((state) => isInvited(state as Parameters<typeof isInvited>[0])),
    [true, false, false, false],
  )
})
