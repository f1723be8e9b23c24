// engine: both
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { heading, nameCard, signInByForm } from '../support/browser/journeys.ts'
import {
  customersOf,
  eventually,
  followLink,
  searchBox,
  showsCustomers,
  storedOrder,
} from '../support/browser/orders.ts'
import { openBrowser } from '../support/browser/person.ts'
import { passwordOf, startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ orders: true, until: { after } })

/** The one journey that runs on both engines. The API's tests check on both what an answer says. */
describe('the path of an order through the app, on either engine', () => {
  it('leads from the sign-in to its creation, through every kind of search, to its approval', async (t) => {
    const person = await browser.person(t, { service, motion: true })
    const { page } = person
    await page.goto('/orders/new')
    await signInByForm(page, passwordOf('admin'), nameCard(page, 'admin'))
    await page.getByLabel('Customer').fill('Straße & Söhne «Ⅷ»')
    await page.getByLabel('Total').fill('1,234,567.8912')
    await page.getByRole('button', { name: 'Create order' }).click()
    await heading(page, /Straße & Söhne «Ⅷ»/).waitFor()
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    for (const search of [
      'strasse',
      'STRASSE & SÖHNE',
      'viii status=Pending',
      'total=1234567.8912',
      id.slice(0, 13),
      String(
        await page
          .locator('.order-facts')
          .getByText(/^#\d+$/)
          .textContent(),
      ),
    ]) {
      await followLink(page, '/orders')
      await eventually(async () => assert.equal((await customersOf(page)).length, 25))
      await searchBox(page).fill(search)
      await page.getByText('1 order matches').first().waitFor()
      await showsCustomers(page, ['Straße & Söhne «Ⅷ»'])
    }
    await page.getByRole('checkbox', { name: 'Select Straße & Söhne «Ⅷ»' }).click()
    await page.getByRole('button', { name: 'Approve …' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByRole('cell', { name: 'Approved' }).waitFor()
    assert.deepEqual(await storedOrder(service, id), { status: 1, version: 2, modifiedBy: 'admin' })
    await page.getByRole('link', { name: 'Overview' }).click()
    const chart = page.getByRole('region', { name: 'Orders per day' })
    await chart.getByText(/^\d+ orders? in the last 30 days, /).waitFor()
  })
})
