import { availableParallelism, loadavg } from 'node:os'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { demoOrders } from '../server/demo/demo.ts'
import { addOrders } from '../server/orders/orders.ts'
import { launchChromium } from '../test/support/browser/chromium.ts'
import { figuresOf, recordInteractions } from '../test/support/browser/figures.ts'
import { createTestDatabase, withRawDatabase } from '../test/support/database.ts'
import { type RunningServer, startServer } from '../test/support/process.ts'
import { credentialsOf, newProduction } from '../test/support/production.ts'
import { buildWebIfStale } from '../web/build.ts'
import { writeResult } from './report.ts'

/**
 * `npm run bench:web`: what a person waits for in a real browser, with a real process in production mode and
 * 250 orders. Prints a table and writes bench/results/web.json. Times depend on the machine and its
 * other work: `load` says how busy it was.
 */
const navigations = 12
const interactions = 30
const scriptBudgetBytes = 150_000

const rows = 'tr.orders-row a'
const views = {
  'sign-in form': { path: '/sign-in', drawn: `document.querySelector('input[type="password"]') !== null` },
  overview: { path: '/', drawn: `document.querySelector('.key-figure-number') !== null` },
  '100 orders': {
    path: '/orders?pageSize=100',
    drawn: `document.querySelectorAll('${rows}').length === 100`,
  },
}
type ViewName = keyof typeof views

interface Visit {
  firstContentfulPaint: number
  drawn: number
  scriptBytes: number
}

interface Spread {
  p50: number
  p98: number
  count: number
}

async function main(): Promise<void> {
  await buildWebIfStale()
  const loadBefore = loadavg()
  const database = await createTestDatabase()
  const production = await newProduction({ databaseUrl: database.databaseUrl })
  await addDemoOrders(database.databaseUrl)
  const server = await startServer([], production.env)
  const browser = await launchChromium()
  try {
    const figures = await measure(browser, server)
    const result = { ...describeRun(browser, loadBefore), ...figures }
    report(result)
  } finally {
    await browser.close()
    await server.stop()
    await production.remove()
    await database.drop()
  }
}

async function addDemoOrders(databaseUrl: string): Promise<void> {
  await withRawDatabase(databaseUrl, async (trx) => {
    for (const made of demoOrders(Date.now())) await addOrders(trx, made)
  })
}

/** Divides the processor's speed, as far as the page sees. */
const slowerProcessor = 4

async function measure(browser: Browser, server: RunningServer) {
  const state = await signedInState(browser, server)
  const cold = {
    'sign-in form': await coldVisits(browser, server, 'sign-in form', undefined),
    overview: await coldVisits(browser, server, 'overview', state),
    '100 orders': await coldVisits(browser, server, '100 orders', state),
  }
  const context = await openContext(browser, server, state)
  const page = await context.newPage()
  const warm = {
    overview: await warmVisits(page, 'overview'),
    '100 orders': await warmVisits(page, '100 orders'),
  }
  const interactionToNextPaint = await measureInteractions(page)
  const session = await context.newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: slowerProcessor })
  const onSlowerProcessor = await measureInteractions(page)
  await context.close()
  return { firstVisit: cold, laterVisit: warm, interactionToNextPaint, onSlowerProcessor }
}

type State = Awaited<ReturnType<BrowserContext['storageState']>>

function openContext(browser: Browser, server: RunningServer, storageState?: State): Promise<BrowserContext> {
  return browser
    .newContext({
      baseURL: server.baseUrl,
      locale: 'en-US',
      viewport: { width: 1280, height: 800 },
      ...(storageState && { storageState }),
    })
    .then(async (context) => {
      await context.addInitScript(recordInteractions)
      return context
    })
}

async function signedInState(browser: Browser, server: RunningServer): Promise<State> {
  const context = await openContext(browser, server)
  const page = await context.newPage()
  const { email, password } = credentialsOf('admin')
  await page.goto('/sign-in')
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Share approved').waitFor()
  const state = await context.storageState()
  await context.close()
  return state
}

/** Visits that each begin with an empty cache. */
async function coldVisits(browser: Browser, server: RunningServer, name: ViewName, state: State | undefined) {
  const visits: Visit[] = []
  for (let count = 0; count < navigations; count += 1) {
    const context = await openContext(browser, server, state)
    visits.push(await visit(await context.newPage(), name))
    await context.close()
  }
  return summaryOf(visits)
}

async function warmVisits(page: Page, name: ViewName) {
  const visits: Visit[] = []
  for (let count = 0; count <= navigations; count += 1) visits.push(await visit(page, name))
  // The first one filled the cache.
  return summaryOf(visits.slice(1))
}

/** `drawn` is checked once a frame. The frame that shows it is complete when the next one begins. */
async function visit(page: Page, name: ViewName): Promise<Visit> {
  const { path, drawn } = views[name]
  await page.goto(path, { waitUntil: 'commit' })
  const atDrawn = await page.evaluate<Pick<Visit, 'drawn' | 'scriptBytes'>>(`new Promise((resolve) => {
    const scripts = () => performance.getEntriesByType('resource').filter(({ contentType }) => /javascript/.test(contentType))
    const note = () => resolve({
      drawn: performance.now(),
      scriptBytes: scripts().reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
    })
    const look = () => requestAnimationFrame((${drawn}) ? note : look)
    look()
  })`)
  const { firstContentfulPaintMilliseconds } = await figuresOf(page)
  return { firstContentfulPaint: firstContentfulPaintMilliseconds, ...atDrawn }
}

function summaryOf(visits: readonly Visit[]) {
  return {
    firstContentfulPaintMilliseconds: spreadOf(
      visits.map(({ firstContentfulPaint }) => firstContentfulPaint),
    ),
    drawnMilliseconds: spreadOf(visits.map(({ drawn }) => drawn)),
    // The app loads the rest of itself later; on a slow machine, some of that arrives too early to be left
    // out.
    scriptBytes: Math.min(...visits.map(({ scriptBytes }) => scriptBytes)),
  }
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number) =>
    sorted[Math.min(Math.ceil(share * sorted.length), sorted.length) - 1] ?? Number.NaN
  return { p50: Math.round(at(0.5)), p98: Math.round(at(0.98)), count: sorted.length }
}

/** With 100 rows on the screen. Each number is the slowest event of one press, by the Event Timing API. */
async function measureInteractions(page: Page): Promise<Record<string, Spread>> {
  const search = page.getByRole('combobox', { name: 'Search the orders' })
  const all = page.getByRole('checkbox', { name: /^Select all/ })
  const ticks = page.locator('tr.orders-row input')
  const settled = () => page.locator('table.orders[aria-busy="false"]').waitFor()
  await openRows(page)
  const sort = await repeat(page, () => page.getByRole('button', { name: 'Total' }).click(), settled)
  await openRows(page)
  const tick = await repeat(page, (count) => ticks.nth(count % 8).click())
  await openRows(page)
  const selectAll = await repeat(page, () => all.click())
  await openRows(page)
  const turn = ['Next page', 'Previous page']
  const nextPage = await repeat(
    page,
    (count) => page.getByRole('button', { name: turn[count % 2] ?? '' }).click(),
    settled,
  )
  await openRows(page)
  await search.focus()
  // So short that most searches find something: nearly every key redraws the table.
  const keys = ['a', 'n', 'Backspace', 'Backspace']
  const type = await repeat(page, (count) => page.keyboard.press(keys[count % keys.length] ?? ''), settled)
  const open = await measureOpening(page)
  return {
    sort,
    'next page': nextPage,
    'a key in the search box': type,
    'open an order': open,
    'tick a row': tick,
    'select all': selectAll,
  }
}

async function measureOpening(page: Page): Promise<Spread> {
  await openRows(page)
  return repeat(
    page,
    (count) =>
      page
        .locator(rows)
        .nth(count % 8)
        .click(),
    async () => {
      await page.getByText('Order number').waitFor()
      await page.goBack()
      await page.locator(rows).nth(99).waitFor()
    },
  )
}

async function openRows(page: Page): Promise<void> {
  await page.goto(views['100 orders'].path)
  await page.locator(rows).nth(99).waitFor()
}

async function repeat(
  page: Page,
  act: (count: number) => Promise<void>,
  after: () => Promise<void> = async () => undefined,
): Promise<Spread> {
  const values: number[] = []
  for (let count = 0; count < interactions; count += 1) {
    await page.evaluate('slowestInteractions.clear()')
    await act(count)
    values.push((await figuresOf(page)).interactionToNextPaintMilliseconds)
    await after()
  }
  return spreadOf(values)
}

function describeRun(browser: Browser, loadBefore: readonly number[]) {
  const round = (values: readonly number[]) => values.map((value) => Number(value.toFixed(2)))
  return {
    date: new Date().toISOString(),
    node: process.version,
    chromium: browser.version(),
    processors: availableParallelism(),
    load: { before: round(loadBefore), after: round(loadavg()) },
    budgets: {
      scriptBytes: scriptBudgetBytes,
      drawnMilliseconds: 1_000,
      interactionToNextPaintMilliseconds: 100,
      onSlowerProcessorMilliseconds: 200,
    },
    slowerProcessor,
    interactionsBelow16MillisecondsCountAs: 0,
  }
}

type Result = ReturnType<typeof describeRun> & Awaited<ReturnType<typeof measure>>

function report(result: Result): void {
  const { firstVisit, laterVisit, interactionToNextPaint, onSlowerProcessor, load } = result
  const visits = [
    ...Object.entries(firstVisit),
    ...Object.entries(laterVisit).map(([name, visit]) => [`${name}, again`, visit] as const),
  ]
  const lines = [
    `load average before and after: ${load.before[0]}, ${load.after[0]}`,
    ...visits.flatMap(
      ([name, { firstContentfulPaintMilliseconds: paint, drawnMilliseconds: drawn, scriptBytes }]) => [
        line(`${name}: first contentful paint, ms`, paint),
        line(`${name}: drawn, ms`, drawn),
        `${`${name}: scripts, bytes as sent`.padEnd(48)} ${String(scriptBytes).padStart(8)}`,
      ],
    ),
    ...Object.entries(interactionToNextPaint).map(([name, spread]) =>
      line(`${name}: to next paint, ms`, spread),
    ),
    ...Object.entries(onSlowerProcessor).map(([name, spread]) =>
      line(`${name}, ${slowerProcessor}x slower: to next paint, ms`, spread),
    ),
  ]
  process.stdout.write(`${' '.repeat(48)}      p50      p98\n${lines.join('\n')}\n`)
  process.stdout.write(`written to ${writeResult('web', result)}\n`)
}

function line(name: string, { p50, p98 }: Spread): string {
  return `${name.padEnd(48)} ${String(p50).padStart(8)} ${String(p98).padStart(8)}`
}

await main()
