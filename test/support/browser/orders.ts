import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { type OrderRow, orderRow } from '../orders.ts'
import type { Service } from '../service.ts'
import { type Account, type Person, signIn } from './person.ts'
import { patienceMilliseconds } from './watch.ts'

/**
 * Waits until the check passes; otherwise throws its last error. The longer it waits, the more rarely it
 * looks: looking every 20 ms for five seconds would cost more than the app itself.
 */
export async function eventually(check: () => Promise<void> | void): Promise<void> {
  const start = performance.now()
  for (;;) {
    try {
      return await check()
    } catch (error) {
      const waited = performance.now() - start
      if (waited > patienceMilliseconds) throw error
      await pause(Math.min(20 + waited / 10, 200))
    }
  }
}

/** Navigates as a link of the app does, until the view is drawn. Costs a tenth of loading the app. */
export function followLink(page: Page, path: string): Promise<void> {
  return page.evaluate(`new Promise((resolve) => {
    const ignore = __TSR_ROUTER__.subscribe('onRendered', () => resolve(ignore()))
    __TSR_ROUTER__.history.push(${JSON.stringify(path)})
  })`)
}

/**
 * Resolves when the heading of the view is there; its orders may still be loading. A staying person who has
 * visited as this account follows a link, which costs a tenth of signing in and loading the app.
 */
export async function visit(person: Person, account: Account, path: string): Promise<Page> {
  const { page, origin } = person
  if (person.stays && person.visitor === account && page.url() !== origin + path) {
    await followLink(page, path)
  } else {
    // A page that is still there would send its antiforgery token with the cookies of the new session.
    await page.goto('about:blank')
    await signIn(person, account)
    await page.goto(path)
    person.visitor = account
  }
  await page.getByRole('heading', { level: 1 }).waitFor()
  return page
}

export const searchBox = (page: Page) => page.getByRole('combobox', { name: 'Search the orders' })

const menus = { Filter: 'Filter', View: /^View(?:: |$)/ }

/** Opens a menu next to the search box. That of the views has the name of the view that is shown. */
export async function openMenu(page: Page, name: keyof typeof menus): Promise<void> {
  await page.getByRole('button', { name: menus[name], exact: true }).click()
  await page.getByRole('dialog').waitFor()
}

/** Leaves the dialog that is open. */
export async function closeDialog(page: Page): Promise<void> {
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

/** The box above the boxes of the rows. */
export const selectAll = (page: Page) =>
  page.getByRole('checkbox', { name: 'Select all orders on this page that you can approve' })

export const customersOf = (page: Page) => page.getByRole('table').getByRole('link').allInnerTexts()

/** Ids of the rows on the screen, in their order. */
export const idsOf = (page: Page) =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll('table a')].map(({ href }) => href.split('/').at(-1))`,
  )

/** Numbers of the rows on the screen, as in `#1042`. */
export const numbersOf = (page: Page) => page.locator('.orders-short').allInnerTexts()

export const linkOf = (page: Page, name: string) => page.getByRole('link', { name, exact: true })

/** Waits for a list of exactly these customers, in this order. */
export function showsCustomers(page: Page, customers: string[]): Promise<void> {
  return eventually(async () => assert.deepEqual(await customersOf(page), customers))
}

/** Compares addresses as written. */
export function isAt(page: Page, address: string): Promise<void> {
  return eventually(() => {
    const { pathname, search } = new URL(page.url())
    assert.equal(pathname + search, address)
  })
}

/** What a screen reader says of the focused element: its label, else its text. */
export function focusedName(page: Page): Promise<string> {
  return page.evaluate<string>(`(() => {
    const element = document.activeElement
    if (element.ariaLabel) return element.ariaLabel
    const words = (element.labels?.[0] ?? element).cloneNode(true)
    for (const unsaid of words.querySelectorAll('select, [aria-hidden="true"]')) unsaid.remove()
    return words.textContent.trim()
  })()`)
}

export function focuses(page: Page, name: string): Promise<void> {
  return eventually(async () => assert.equal(await focusedName(page), name))
}

/**
 * Pending orders of 1, 2, 3 ..., a minute apart and the latest first: the order in which a list shows them.
 */
export function latestFirst(customers: string[], given: Partial<OrderRow> = {}): OrderRow[] {
  return customers.map((customer, index) =>
    orderRow({
      customer,
      total_e4: (index + 1) * 10_000,
      created_at: Date.UTC(2026, 0, 1) - index * 60_000,
      ...given,
    }),
  )
}

/** The approvals that the page sends from now on. */
export function approvalsOf(page: Page): { headers: Record<string, string>; id: string | undefined }[] {
  const sent: { headers: Record<string, string>; id: string | undefined }[] = []
  page.on('request', (request) => {
    if (request.method() !== 'PATCH') return
    sent.push({ headers: request.headers(), id: new URL(request.url()).pathname.split('/').at(-2) })
  })
  return sent
}

/** How an order is stored. */
export async function storedOrder({ db }: Service, id: string) {
  const { status, version, modified_by } = await db.read
    .selectFrom('orders')
    .select(['status', 'version', 'modified_by'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return { status, version, modifiedBy: modified_by }
}
