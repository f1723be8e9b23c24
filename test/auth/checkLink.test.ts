import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newLink, newUser, setEnabled } from '../support/accounts.ts'
import { assertProblem, visibleParts } from '../support/problem.ts'
import { testService } from '../support/service.ts'

const newPassword = 'seven grey herons by the weir'

describe('checkLink', () => {
  const service = testService()
  const check = (token: string) => service.client().post('/v1/auth/links/check', { token })

  it('says that a link works, any number of times, and leaves it as it is', async () => {
    const token = await newLink(service, await newUser(service))
    for (const _ of [1, 2, 3]) assert.equal((await check(token)).status, 204)
    const use = { token, newPassword }
    assert.equal((await service.client().post('/v1/auth/links/use', use)).status, 204)
    assertProblem(await check(token), 404, 'link-not-found')
  })

  it('answers an expired or replaced link, or one of a disabled user, as an unknown one', async () => {
    const user = await newUser(service)
    const older = await newLink(service, user)
    const newer = await newLink(service, user)
    const answers = [await check(older), await check('A'.repeat(43)), await check(newer.slice(1))]
    await setEnabled(service, user, false)
    answers.push(await check(newer))
    await setEnabled(service, user, true)
    const expired = await newLink(service, user)
    service.advance(24 * 3_600_000)
    answers.push(await check(expired))
    for (const answer of answers) assertProblem(answer, 404, 'link-not-found')
    const seen = answers.map((answer) => JSON.stringify(visibleParts(answer)))
    assert.equal(new Set(seen).size, 1)
  })

  it('logs who guessed', async () => {
    await service.log()
    await check('B'.repeat(43))
    const events = (await service.log()).map(({ event }) => event)
    assert.ok(events.includes('link-refused'))
  })
})
