import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { newUser } from '../support/accounts.ts'
import { openBrowser } from '../support/browser/person.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ until: { after } })

describe('a page that sends the readable cookie back, as axios and Angular do by themselves', () => {
  const person = browser.samePerson({ service })

  it('signs in, changes the person, refreshes and signs out', async () => {
    const { page } = person
    const [one, next] = await Promise.all([0, 1].map(() => newUser(service, { roles: ['Admin'] })))
    const cookies = () => page.evaluate<string>('document.cookie')
    const send = async (path: string, body: object = {}) => {
      const token = /(?:^|; )XSRF-TOKEN=([^;]*)/.exec(await cookies())?.[1]
      const headers = {
        'content-type': 'application/json',
        ...(token !== undefined && { 'x-xsrf-token': decodeURIComponent(token) }),
      }
      const request = { method: 'POST', headers, body: JSON.stringify(body) }
      return page.evaluate(async ([url, init]) => (await fetch(url, init)).status, [path, request] as const)
    }
    const order = { customer: 'Acme', total: 1 }
    person.expectFault(/DocumentCookie/)
    await page.goto('/')
    const statuses = [
      await send('/v1/auth/session', one?.credentials),
      await send('/v1/orders', order),
      await send('/v1/auth/session', next?.credentials),
      await send('/v1/orders', order),
      await send('/v1/auth/session/refresh'),
      await send('/v1/orders', order),
      await send('/v1/auth/session/logout'),
    ]
    assert.deepEqual(statuses, [200, 201, 200, 201, 200, 201, 204])
    assert.equal(await cookies(), '')
  })
})
