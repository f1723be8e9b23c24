import { setTimeout as pause } from 'node:timers/promises'
import type { BrowserContext, CDPSession, Page } from 'playwright-core'

/**
 * Chromium's errors for a connection that could not be made, or broke. Which one comes depends on the moment.
 */
export const brokenConnection = /net::ERR_(CONNECTION_\w+|SOCKET_NOT_CONNECTED|EMPTY_RESPONSE)/

/** Reports violations from inside the page, as the page itself would see them. */
const reportViolations = `addEventListener('securitypolicyviolation', (event) =>
  reportPolicyViolation(event.effectiveDirective + ' forbids ' + (event.blockedURI || 'it')))`

/** How long an action, a navigation or a last look waits for what it needs. */
export const patienceMilliseconds = 30_000

interface Expectation {
  pattern: RegExp
  isMet: boolean
}

/**
 * Collects what a page of the app must never cause: errors and warnings of the console, uncaught errors,
 * violations of the content security policy, what Chromium lists under Issues, crashes, and requests to any
 * other origin.
 */
export class Watch {
  readonly #origin: string
  #faults: string[] = []
  #expectations: Expectation[] = []

  static async over(context: BrowserContext, origin: string): Promise<Watch> {
    const watch = new Watch(origin)
    context
      .on('console', (message) => {
        if (message.type() !== 'error' && message.type() !== 'warning') return
        watch.#add(`console ${message.type()}: ${message.text()} (${message.location().url})`)
      })
      .on('weberror', (error) => watch.#add(`uncaught: ${error.error().stack ?? error.error()}`))
      .on('request', (request) => watch.#addForeign(request.url()))
      .on('page', (page) => watch.#watchPage(page))
    await context.exposeBinding('reportPolicyViolation', (_source, text: string) =>
      watch.#add(`content security policy: ${text}`),
    )
    await context.addInitScript(reportViolations)
    return watch
  }

  constructor(origin: string) {
    this.#origin = origin
  }

  /** Expects at least one fault that matches. */
  expect(pattern: RegExp): void {
    this.#expectations.push({ pattern, isMet: false })
  }

  /** Allows faults that depend on the machine's speed. */
  allow(pattern: RegExp): void {
    this.#expectations.push({ pattern, isMet: true })
  }

  /** Throws for every fault and every unmet expectation, and forgets them. */
  async assertClean(context: BrowserContext): Promise<void> {
    const silent = 'a page does not answer: its script runs without end'
    for (const answers of await Promise.all(context.pages().map(lastReports))) if (!answers) this.#add(silent)
    const unexpected = this.#faults.filter((fault) => !this.#isExpected(fault))
    const missed = this.#expectations.filter(({ isMet }) => !isMet).map(({ pattern }) => `${pattern}`)
    this.#faults = []
    this.#expectations = []
    const lines = [...unexpected, ...missed.map((pattern) => `expected, but nothing matched ${pattern}`)]
    if (lines.length > 0) throw new Error(`The page is not clean:\n${lines.join('\n')}`)
  }

  #isExpected(fault: string): boolean {
    const matching = this.#expectations.filter(({ pattern }) => pattern.test(fault))
    for (const expectation of matching) expectation.isMet = true
    return matching.length > 0
  }

  #add(fault: string): void {
    this.#faults.push(fault)
  }

  #addForeign(url: string): void {
    const { protocol, origin } = new URL(url)
    const isLocal = protocol === 'data:' || protocol === 'blob:' || protocol === 'about:'
    if (!isLocal && origin !== this.#origin) this.#add(`request to another origin: ${url}`)
  }

  #watchPage(page: Page): void {
    page.on('crash', () => this.#add('the page has crashed'))
    page.on('websocket', (socket) => this.#addForeign(socket.url().replace(/^ws/, 'http')))
    // A closed page has no issues.
    void page
      .context()
      .newCDPSession(page)
      .then((session) => this.#listIssues(session))
      .catch(() => undefined)
  }

  async #listIssues(session: CDPSession): Promise<void> {
    session.on('Audits.issueAdded', ({ issue }) => {
      const details = Object.values(issue.details)[0]
      this.#add(`issue: ${issue.code} ${JSON.stringify(details)}`)
    })
    await session.send('Audits.enable')
  }
}

/** Violations are dispatched as separate tasks; two more tasks later the page has reported them. */
async function lastReports(page: Page): Promise<boolean> {
  const twoTasks = 'new Promise((resolve) => setTimeout(() => setTimeout(resolve)))'
  const late = new AbortController()
  // Evaluating fails in a page that is just navigating; it has reported everything.
  const answered = page.evaluate(twoTasks).then(
    () => true,
    () => true,
  )
  const waited = pause(patienceMilliseconds, false, { signal: late.signal }).catch(() => false)
  return Promise.race([answered, waited]).finally(() => late.abort())
}
