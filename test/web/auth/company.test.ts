import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { answerWith, problemWith, serviceIs, settled } from '../../support/page.ts'

const { linkCompany } = await import('../../../web/src/auth/company.ts')
const { endSession, loadSession } = await import('../../../web/src/auth/session.ts')

describe('linking a company account', () => {
  const went: string[] = []
  const answers: ((answer: Response) => void)[] = []
  let id = 1
  Object.assign(location, { assign: (url: string) => went.push(url) })
  const to = 'https://login.example.com/auth'

  serviceIs((path) => {
    if (path === '/v1/auth/me') return answerWith(200, { id, userName: `user ${id}`, roles: [] })
    if (path === '/v1/auth/me/permissions') return answerWith(200, { permissions: [] })
    if (path === '/v1/auth/csrf') return answerWith(200, { token: 'token' })
    if (path === '/v1/auth/company') return new Promise((resolve) => answers.push(resolve))
    return problemWith(404, 'not-found')
  })
  beforeEach(async () => {
    await loadSession()
    went.length = 0
  })

  it('leads to the provider', async () => {
    const linking = linkCompany()
    await settled()
    answers.pop()?.(answerWith(200, { url: to }))
    await linking
    assert.deepEqual(went, [to])
  })

  it('leads nobody else there, if the person changes before the answer', async () => {
    const linking = linkCompany()
    await settled()
    id = 2
    await endSession('signed-out')
    await loadSession()
    answers.pop()?.(answerWith(200, { url: to }))
    await assert.rejects(linking, /gone/)
    assert.deepEqual(went, [])
  })
})
