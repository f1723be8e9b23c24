import type { Locator, Page } from 'playwright-core'
import type { Person } from './person.ts'

export const signInHeading = (page: Page) => page.getByRole('heading', { name: 'Sign in to Countersign' })

/** Fills in the sign-in form once it is on the screen; `afterSignIn` must be visible afterwards. */
export async function signInByForm(
  page: Page,
  { email, password }: { email: string; password: string },
  afterSignIn: Locator,
): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await afterSignIn.waitFor()
}

/** The signed-in person's card at the side of every view. */
export function nameCard(page: Page, userName: string): Locator {
  return page.getByRole('banner').getByText(userName, { exact: true })
}

export function heading(page: Page, name: string | RegExp): Locator {
  return page.getByRole('heading', { level: 1, name })
}

export async function waitForFocus(locator: Locator): Promise<void> {
  await locator.and(locator.page().locator(':focus')).waitFor()
}

/** `address` is an exact path and query. */
export async function waitForAddress({ page, origin }: Person, address: string): Promise<void> {
  await page.waitForURL((url) => url.href === origin + address)
}

/** Whatever the sign-in form shows, it offers passkeys to anybody. */
const offer = '/v1/auth/session/passkey/options'

/**
 * A growing list of requests to the API from now on, such as `POST /v1/orders`, without queries and without
 * the offer of passkeys.
 */
export function listRequests(page: Page): string[] {
  const requests: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.startsWith('/v1/') && pathname !== offer) requests.push(`${request.method()} ${pathname}`)
  })
  return requests
}

/** Requests whose address matches wait until the returned function is called. */
export async function hold(page: Page, address: string): Promise<() => Promise<void>> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(address, async (route) => {
    await promise
    await route.fallback()
  })
  return async () => {
    resolve()
    await page.unroute(address)
  }
}

/**
 * From this time on, the date stands still in all tabs of the page's person. Timers run, so what the app does
 * at a certain time waits for the returned function, which moves the date and the timers on.
 */
export async function holdTime(
  { clock }: Page,
  startMilliseconds: number,
): Promise<(milliseconds: number) => Promise<void>> {
  let now = startMilliseconds
  await clock.setFixedTime(now)
  return async (milliseconds) => {
    now += milliseconds
    await clock.setFixedTime(now)
    await clock.fastForward(milliseconds)
  }
}

/** Records everything that pages loaded from now on draw, however briefly. */
export async function keepDrawings(page: Page): Promise<void> {
  await page.addInitScript(`
    Object.defineProperty(globalThis, 'drawings', { value: [] })
    new MutationObserver(() => drawings.push(document.body?.textContent))
      .observe(document, { subtree: true, childList: true, characterData: true })`)
}

/** The text of every state that the page has had since it was loaded, or since the last call. */
export function takeDrawings(page: Page): Promise<string> {
  return page.evaluate<string>(`drawings.splice(0).join('\\n')`)
}
