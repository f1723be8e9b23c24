import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { newUser } from '../support/accounts.ts'
import { followLink } from '../support/browser/orders.ts'
import { openBrowser, signIn } from '../support/browser/person.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ until: { after } })

describe('a browser that names no time zone the service knows', () => {
  it('can do everything, in UTC, and sends none', async (t) => {
    const person = await browser.person(t, { service })
    const { page } = person
    const sent: (string | undefined)[] = []
    page.on('request', (request) => sent.push(request.headers()['time-zone']))
    await page.addInitScript(`{
        const { resolvedOptions } = Intl.DateTimeFormat.prototype
        Intl.DateTimeFormat.prototype.resolvedOptions = function () {
          return { ...resolvedOptions.call(this), timeZone: undefined }
        }
      }`)
    await signIn(person, await newUser(service, { roles: ['Admin'] }))
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    const summary = page.waitForResponse(/\/v1\/orders\/summary/)
    await page.goto('/')
    assert.equal((await summary).status(), 200)
    await followLink(page, '/orders/new')
    await page.getByLabel('Customer', { exact: true }).fill('Timeless Timber')
    await page.getByLabel('Total').fill('12')
    await button('Create order').click()
    await button('Add a note').click()
    await page.getByRole('textbox', { name: 'Note' }).fill('Seen.')
    await button('Add note').click()
    await page.getByText('Seen.').first().waitFor()
    await page.keyboard.press('a')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Approve' }).click()
    await page.getByText('Approved').first().waitFor()
    await followLink(page, '/account')
    await page.getByText('UTC, because this browser names no time zone').waitFor()
    assert.deepEqual(new Set(sent), new Set([undefined]))
  })
})
