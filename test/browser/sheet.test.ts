import assert from 'node:assert/strict'
import { readFile, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import type { FileChooser, Page, Route } from 'playwright-core'
import { newUser } from '../support/accounts.ts'
import { checkAccessibility } from '../support/browser/accessibility.ts'
import { heading, signInHeading, waitForFocus } from '../support/browser/journeys.ts'
import { lookAt } from '../support/browser/looks.ts'
import { eventually, visit } from '../support/browser/orders.ts'
import { openBrowser, type Person, screenshot } from '../support/browser/person.ts'
import { addRole } from '../support/roles.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })

const field = (page: Page) => page.getByLabel('Rows', { exact: true })
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })
/** A sheet whose customers all begin with the same word, so that no test sees the orders of another. */
const sheetOf = (name: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${name} ${at + 1}\t${at + 1}`).join('\n')

/** The customers of the orders that were created, in the order of their creation. */
async function created(name: string): Promise<string[]> {
  const { read } = service.db
  const rows = await read
    .selectFrom('orders')
    .select('customer')
    .where('customer', 'like', `${name}%`)
    .orderBy('id')
    .execute()
  return rows.map(({ customer }) => customer)
}
const namesOf = (name: string, count: number) => Array.from({ length: count }, (_, at) => `${name} ${at + 1}`)

async function atTheSheet(
  person: Person,
  text = '',
  account: Parameters<typeof visit>[1] = 'operator',
): Promise<Page> {
  const page = await visit(person, account, '/orders/new/sheet')
  // Another test may have left a sheet.
  const again = button(page, /^(Another sheet|Clear)$/)
  if (await again.isVisible()) await again.click()
  await field(page).fill(text)
  return page
}

/** Lets the requests that create orders through up to this row, and holds the others until it is released. */
async function holdAfter(
  page: Page,
  count: number,
): Promise<{ release(): Promise<void>; held: Promise<void> }> {
  const held = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  let sent = 0
  const handler = async (route: Route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    sent += 1
    if (sent > count) {
      held.resolve()
      await released.promise
    }
    await route.fallback().catch(() => undefined)
  }
  await page.route('**/v1/orders', handler)
  const release = async () => {
    released.resolve()
    await page.unroute('**/v1/orders', handler)
  }
  return { release, held: held.promise }
}

describe('a sheet of orders', () => {
  const person = browser.stayingPerson({ service })

  it('is read by a file that no other view loads', async () => {
    const loaded: string[] = []
    person.page.on('request', (request) => {
      if (request.url().includes('/assets/sheet-')) loaded.push(request.url())
    })
    const page = await visit(person, 'operator', '/orders/new')
    await page.waitForLoadState('networkidle')
    assert.deepEqual(loaded, [])
    await page.getByRole('link', { name: 'From a spreadsheet' }).click()
    await heading(page, 'New orders from a spreadsheet').waitFor()
    assert.equal(loaded.length, 1)
  })

  it('is pasted, judged and sent in its order, by the keyboard alone', async () => {
    const page = await visit(person, 'operator', '/orders')
    await page.keyboard.press('n')
    await waitForFocus(page.getByLabel('Customer', { exact: true }))
    await page.keyboard.press('Shift+Tab')
    await waitForFocus(page.getByRole('link', { name: 'From a spreadsheet' }))
    await page.keyboard.press('Enter')
    await heading(page, 'New orders from a spreadsheet').waitFor()
    await page.keyboard.press('Tab')
    await waitForFocus(field(page))
    await page.keyboard.insertText('customer\ttotal\nKeys 1\t1,250.50\nKeys 2\t7\nKeys 3\t0.0001')
    await page.getByText('3 orders can be created.').first().waitFor()
    await page.keyboard.press('Tab')
    await waitForFocus(button(page, 'Create 3 orders'))
    await page.keyboard.press('Enter')
    await waitForFocus(page.getByRole('heading', { name: 'Finished' }))
    await page.getByText('3 orders created.').first().waitFor()
    assert.deepEqual(await created('Keys'), namesOf('Keys', 3))
    await page.keyboard.press('Tab')
    await waitForFocus(page.getByRole('link', { name: 'Show the orders' }))
    await page.keyboard.press('Enter')
    await page.getByRole('rowheader', { name: 'Keys 3' }).waitFor()
  })

  it('leaves out a row that looks like a sum, unless the user wants it', async () => {
    const page = await atTheSheet(person, 'a\t1\nb\t2\nSum\t3')
    await button(page, 'Create 2 orders').waitFor()
    await page.getByText(/^Skip .* that looks like a sum/).click()
    await button(page, 'Create 3 orders').waitFor()
  })

  it('is chosen or dropped as a file, and refused by its size before it is read', async () => {
    const page = await atTheSheet(person)
    const choose = async (file: Parameters<FileChooser['setFiles']>[0]) => {
      const chooser = page.waitForEvent('filechooser')
      await button(page, 'Choose a CSV file').click()
      await (await chooser).setFiles(file)
    }
    const text = '\ufeffstatus,total,customer\r\nPending,"1,250.50","Files, Inc."\r\n'
    await choose({ name: 'orders.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
    await waitForFocus(field(page))
    await row(page, 'Files, Inc.').getByText('1,250.50').waitFor()
    await page.getByText('customer is “customer”, total is “total”').waitFor()
    const large = join(tmpdir(), `sheet-${process.pid}.csv`)
    await writeFile(large, '')
    await truncate(large, 50_000_000)
    await choose(large)
    await page.getByText('The sheet is larger than 1 MB. Send it in parts.').first().waitFor()
    await page.evaluate(`{
      const data = new DataTransfer()
      data.items.add(new File(['Dropped Drums;5'], 'drop.csv'))
      const at = document.getElementById('sheet')
      at.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }))
    }`)
    await row(page, 'Dropped Drums').getByText('5.00').waitFor()
  })
})

describe('nothing is created twice', () => {
  const person = browser.stayingPerson({ service })
  it('after a reload, even of the row whose answer was lost', async () => {
    const page = await atTheSheet(person, sheetOf('Reloads', 3))
    const isCreated = Promise.withResolvers<void>()
    const never = new Promise<void>(() => undefined)
    let sent = 0
    await page.route('**/v1/orders', async (route) => {
      if (route.request().method() !== 'POST') return route.fallback()
      sent += 1
      if (sent !== 2) return route.fallback()
      const headers = { ...route.request().headers(), 'sec-fetch-site': 'same-origin' }
      assert.equal((await route.fetch({ headers })).status(), 201)
      isCreated.resolve()
      await never
    })
    await button(page, 'Create 3 orders').click()
    await isCreated.promise
    await page.reload()
    await page.getByText('1 of 3 orders was created.').waitFor()
    await row(page, 'Reloads 1').getByText('Created', { exact: true }).waitFor()
    await button(page, 'Go on').click()
    await page.getByText('3 orders exist.').first().waitFor()
    assert.deepEqual(await created('Reloads'), namesOf('Reloads', 3))
  })
})

describe('what failed', () => {
  const person = browser.stayingPerson({ service })
  it('is listed, saved as a file that runs no formulas, and corrected in place', async () => {
    const page = await atTheSheet(person, 'Fails 1\t1\n=Fails 2\t2\nFails 3\tthree\nFails 4\t4')
    await page.route('**/v1/orders', (route) => {
      const isSecond = route.request().postData()?.includes('=Fails 2')
      return isSecond ? route.continue({ postData: '{"customer":" ","total":2}' }) : route.fallback()
    })
    person.expectFault(/ 400 .*\/v1\/orders\)/)
    await button(page, 'Create 3 orders').click()
    await page.getByText('2 orders created. 2 rows were not created.').first().waitFor()
    await row(page, '=Fails 2').getByText('The customer must not be blank.').waitFor()
    const saved = page.waitForEvent('download')
    await button(page, 'Save the 2 rows that failed').click()
    const text = await readFile(await (await saved).path(), 'utf8')
    assert.equal(
      text,
      '\ufeffcustomer,total,note,row,why\r\n' +
        "'=Fails 2,2,,2,The customer must not be blank.\r\n" +
        'Fails 3,three,,3,"Enter only the number, without “three”."\r\n',
    )
    await page.unroute('**/v1/orders')
    await button(page, 'Correct them here').click()
    await waitForFocus(field(page))
    await field(page).fill((await field(page).inputValue()).replace('three', '3'))
    await button(page, 'Create 2 orders').click()
    // The text before has it as a part.
    await page.getByText('2 orders created.', { exact: true }).first().waitFor()
    assert.deepEqual((await created('Fails')).length, 3)
    assert.deepEqual(await created('=Fails'), ['=Fails 2'])
  })
})

describe('a sheet', () => {
  const person = browser.stayingPerson({ service })
  it('looks right', (t) =>
    lookAt(t, person, {
      'sheet-judged': async (person) => {
        const page = await atTheSheet(
          person,
          'customer\ttotal\nNorthwind Traders\t1,250.50\n\t8\nContoso Ltd\t€ 1\nThe Company with quite a Long Name and Sons GmbH & Co. KG\t99,999,999,999.9999\nContoso Ltd\t1,234\nNorthwind Traders\t1250.5',
        )
        await row(page, 'The same as row 2.').waitFor()
        const underlined = `[...document.querySelectorAll('.sheet-fault')]
          .map((cell) => getComputedStyle(cell).textDecorationStyle)`
        assert.deepEqual(await page.evaluate(underlined), ['wavy'])
      },
      'sheet-stopped': async ({ page }) => {
        const { held, release } = await holdAfter(page, 1)
        await button(page, 'Create 4 orders').click()
        await held
        await button(page, 'Stop').click()
        await release()
        await button(page, 'Go on').waitFor()
      },
      'sheet-done': async ({ page }) => {
        await button(page, 'Go on').click()
        await page.getByText('4 orders created. 2 rows were not created.').first().waitFor()
      },
    }))
})

describe('a sheet that is being sent', () => {
  const person = browser.stayingPerson({ service })
  const question = (page: Page, name: string) => page.getByRole('alertdialog', { name })

  it('is sent before the sign-out, or goes on, or is discarded, as the user wants', async () => {
    const user = await newUser(service)
    const page = await atTheSheet(person, sheetOf('Leaves', 3), user)
    const { held, release } = await holdAfter(page, 1)
    await button(page, 'Create 3 orders').click()
    await held
    await page.getByRole('link', { name: 'Orders', exact: true }).first().click()
    await heading(page, 'Orders').waitFor()
    await page.getByText('Creating orders: 2 orders to go.').waitFor()
    await button(page, 'Sign out').click()
    const asking = question(page, 'Sign out with 2 orders not sent?')
    await asking.waitFor()
    await checkAccessibility(page)
    await screenshot(page, 'sheet-sign-out')
    await asking.getByRole('button', { name: 'Cancel' }).click()
    await asking.waitFor({ state: 'detached' })
    await button(page, 'Sign out').click()
    await asking.getByRole('button', { name: 'Send and sign out' }).click()
    await asking.getByText('You’ll be signed out once they are sent.').waitFor()
    // After the last order the list asks again, while the session ends.
    person.allowFault(/ 401 .*\/v1\/orders\?/)
    await release()
    await signInHeading(page).waitFor()
    assert.deepEqual(await created('Leaves'), namesOf('Leaves', 3))
    person.visitor = undefined
    await atTheSheet(person, sheetOf('Drops', 3), user)
    const dropping = await holdAfter(page, 1)
    await button(page, 'Create 3 orders').click()
    await dropping.held
    await button(page, 'Sign out').click()
    await asking.getByRole('button', { name: 'Discard' }).click()
    await signInHeading(page).waitFor()
    await page.getByText('1 of 3 orders was created. Paste the sheet again to go on').waitFor()
    // The request that was under way.
    person.allowFault(/ 401 .*\/v1\/orders\)/)
    await dropping.release()
    assert.deepEqual((await created('Drops')).slice(0, 1), namesOf('Drops', 1))
    assert.ok((await created('Drops')).length < 3)
  })
})

describe('another person', () => {
  const person = browser.stayingPerson({ service })
  it('finds nothing of a sheet after a sign-out, in the page or in the browser', async () => {
    const user = await newUser(service)
    const page = await atTheSheet(person, sheetOf('Secrets', 2), user)
    await button(page, 'Create 2 orders').click()
    await page.getByText('2 orders created.').first().waitFor()
    // A request that was under way.
    person.allowFault(/ 401 .*\/v1\/orders\)/)
    await button(page, 'Sign out').click()
    await signInHeading(page).waitFor()
    await eventually(async () =>
      assert.doesNotMatch(await page.evaluate<string>('JSON.stringify(sessionStorage)'), /Secrets|sheet/),
    )
    await visit(person, 'operator', '/orders/new/sheet')
    assert.equal(await field(page).inputValue(), '')
  })
})

describe('permissions', () => {
  const person = browser.stayingPerson({ service })
  it('decide whether rows are compared with other orders, and whether there is a form', async () => {
    const user = await newUser(service, { roles: [await addRole(service, 'Sheets', ['Orders.Create'])] })
    const reads: string[] = []
    person.page.on('request', (request) => {
      if (request.method() === 'GET' && request.url().includes('/v1/orders')) reads.push(request.url())
    })
    const page = await atTheSheet(person, sheetOf('Blind', 1), user)
    await button(page, 'Create 1 order').click()
    await page.getByText('1 order created.').first().waitFor()
    assert.deepEqual(reads, [])
    await visit(person, 'viewer', '/orders/new/sheet')
    await page.getByText('You cannot create orders').waitFor()
    assert.equal(await field(page).count(), 0)
  })
})
