import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, type TestContext } from 'node:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { TestUser } from '../accounts.ts'
import { Client } from '../client.ts'
import { passwordOf, type Service, type ServiceOptions, startService } from '../service.ts'
import { launchChromium } from './chromium.ts'
import { recordInteractions } from './figures.ts'
import { Network, type NetworkState } from './network.ts'
import { countRequests } from './pages.ts'
import { patienceMilliseconds, Watch } from './watch.ts'

interface PersonOptions {
  /** Anything with an address, such as the result of `startService()` or `startServer()`. */
  service: { baseUrl: string }
  colorScheme?: 'light' | 'dark'
  viewport?: { width: number; height: number }
  /** Default: `en-US`. */
  locale?: string
  /** Default: `UTC`. */
  timezone?: string
  /** Default: the person asked for less, because an endless animation costs a quarter more (ADR 67). */
  motion?: boolean
  /** Only for tests of the live list: a page with it never finishes loading. */
  isLive?: boolean
}

/** As in a browser without Web Locks. */
const withoutLive = 'delete Navigator.prototype.locks'

const settleMilliseconds = 3_000

/**
 * For a suite whose tests run at the same time, each with its own person in one browser: such tests mostly
 * wait. Not for tests that move the clock of a shared service or count its refusals.
 */
export const sideBySide = { concurrency: 3 }

/** One person at a browser: with separate cookies, storage, connections and origin. */
export interface Person {
  page: Page
  /** Where this person finds the service; `page.goto('/path')` is relative to it. */
  origin: string
  /** The service itself, unaffected by what is done to this person's network. */
  baseUrl: string
  /** See `stayingPerson`. */
  stays?: boolean
  /** The account whose views the page shows since `visit`. */
  visitor?: Account | undefined
  /** Expects a fault that matches, up to the next check of the faults; its absence is a fault. */
  expectFault(pattern: RegExp): void
  /** Allows a fault that depends on the machine's speed. */
  allowFault(pattern: RegExp): void
  /** Throws if there was a fault (see watch.ts) since the last check. The end of a test checks once more. */
  assertClean(): Promise<void>
  network(state: NetworkState): Promise<void>
  close(): Promise<void>
}

/** One browser for all tests of a process, started with the first person. */
let chromium: Promise<Browser> | undefined

/** People of `stayingPerson` who are still there if one of their describes was skipped. */
const staying = new Set<Person>()

after(async () => {
  for (const person of staying) await person.close()
  await (await chromium)?.close()
})

/** Call it once, at the top of a test file. A test fails if there was an unexpected fault. */
export function openBrowser(): {
  /** Lasts until the end of the test. */
  person(t: TestContext, options: PersonOptions): Promise<Person>
  /**
   * One person at a separate service, until the end of the test. The person leaves first: a service that ends
   * waits for connections that Chromium opened in advance.
   */
  alone(t: TestContext, options: ServiceOptions): Promise<{ person: Person; service: Service }>
  /**
   * One person for all tests of the describe that calls this in its body; they run one after the other.
   * Arriving costs twice as much as opening another page. A test that changes the network, the window, the
   * tabs or the browser's storage restores it; one that takes over the clock comes last.
   */
  samePerson(options: PersonOptions): Person
  /**
   * Like `samePerson`, but shared by all describes of the file that call this with the same options. `visit`
   * leads this person on by links.
   */
  stayingPerson(options: PersonOptions): Person
} {
  const shared = new Map<string, { person: Person; describesLeft: number }>()
  return {
    async person(t, options) {
      const person = await arrive(options)
      t.after(() => person.close().catch((error) => failAtLast(t, error)))
      return person
    },
    async alone(t, options) {
      const service = await startService(options)
      const person = await this.person(t, { service })
      t.after(() => service.close())
      return { person, service }
    },
    samePerson(options) {
      const person = {} as Person
      before(async () => Object.assign(person, await arrive(options)))
      afterEach(() => person.assertClean())
      after(() => person.close())
      return person
    },
    stayingPerson(options) {
      const key = JSON.stringify({ ...options, service: options.service.baseUrl })
      const one = shared.get(key) ?? { person: {} as Person, describesLeft: 0 }
      const { person } = one
      shared.set(key, one)
      one.describesLeft += 1
      before(async () => {
        if (!staying.has(person)) staying.add(Object.assign(person, await arrive(options), { stays: true }))
      })
      afterEach(() => person.assertClean())
      after(async () => {
        one.describesLeft -= 1
        if (one.describesLeft > 0) return
        staying.delete(person)
        await person.close()
      })
      return person
    },
  }
}

/** Runs all, even if one fails: later ones close what would keep this process alive. */
function failAtLast(t: TestContext, error: Error): void {
  // Reported even when the test has already failed for another reason.
  t.diagnostic(error.message)
  t.after(() => {
    throw error
  })
}

async function arrive(options: PersonOptions): Promise<Person> {
  chromium ??= launchChromium()
  const browser = await chromium
  const { baseUrl } = options.service
  const network = await Network.to(baseUrl)
  const { origin } = network
  const context = await browser.newContext(contextOptions(origin, options))
  context.setDefaultTimeout(patienceMilliseconds)
  const watch = await Watch.over(context, origin)
  await context.addInitScript(recordInteractions)
  await context.addInitScript(countRequests)
  if (!options.isLive) await context.addInitScript(withoutLive)
  const assertClean = () => watch.assertClean(context)
  const page = await context.newPage()
  return {
    page,
    origin,
    baseUrl,
    expectFault: (pattern) => watch.expect(pattern),
    allowFault: (pattern) => watch.allow(pattern),
    assertClean,
    async network(state) {
      await settle(page)
      await network.set(context, state)
    },
    close: () => assertClean().finally(() => leave(context, network)),
  }
}

/** A failed prefetch by the app is not a fault. */
async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle', { timeout: settleMilliseconds }).catch(() => undefined)
}

function contextOptions(origin: string, options: PersonOptions) {
  return {
    baseURL: origin,
    colorScheme: options.colorScheme ?? 'light',
    viewport: options.viewport ?? { width: 1280, height: 800 },
    locale: options.locale ?? 'en-US',
    timezoneId: options.timezone ?? 'UTC',
    reducedMotion: options.motion ? 'no-preference' : 'reduce',
  } as const
}

async function leave(context: BrowserContext, network: Network): Promise<void> {
  await context.close()
  await network.close()
}

export type Account = 'admin' | 'operator' | 'viewer' | Pick<TestUser, 'credentials'>

/** Gives the person a session of the account, as if they had signed in before the next page is loaded. */
export async function signIn(person: Person, account: Account): Promise<void> {
  const credentials = typeof account === 'string' ? passwordOf(account) : account.credentials
  const answer = await new Client(person.baseUrl).post('/v1/auth/session', credentials)
  assert.equal(answer.status, 200, answer.text)
  person.visitor = undefined
  const { page, origin } = person
  const session = await page.context().newCDPSession(page)
  for (const line of answer.setCookies) {
    const cookie = { url: origin, ...cookieOf(line) }
    const { success } = await session.send('Network.setCookie', cookie)
    assert.ok(success, `Chromium refuses the cookie ${cookie.name}`)
  }
  await session.detach()
}

/** The attributes that decide how a browser keeps the cookie. */
function cookieOf(line: string) {
  const [pair = '', ...attributes] = line.split(';').map((part) => part.trim())
  const names = attributes.map((attribute) => attribute.toLowerCase())
  const separator = pair.indexOf('=')
  return {
    name: pair.slice(0, separator),
    value: pair.slice(separator + 1),
    path: '/',
    secure: names.includes('secure'),
    httpOnly: names.includes('httponly'),
    sameSite: names.includes('samesite=strict') ? 'Strict' : 'Lax',
  } as const
}

/** Writes the whole page to the folder of the environment's SCREENSHOTS; without one it does nothing. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS
  if (!folder) return
  await mkdir(folder, { recursive: true })
  // A hidden caret would be a style sheet in the page, against its content security policy.
  await page.screenshot({
    path: join(folder, `${name}.png`),
    fullPage: true,
    animations: 'disabled',
    caret: 'initial',
  })
}
