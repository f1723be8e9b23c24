import { writeFile } from 'node:fs/promises'
import type { TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Locator, Page } from 'playwright-core'
import type { Client } from '../client.ts'
import type { openBrowser, Person } from './person.ts'

/** The four sentences above all others. */
export const verdicts = {
  holds: 'Valid.',
  fails: 'Not valid: do not rely on it.',
  unproven: 'Not proven yet: something is missing.',
  nothing: 'Nothing to check yet. Add a receipt or a log.',
}

/** Someone at the page /verify. */
export interface Checker {
  person: Person
  page: Page
  /** The requests since the page was loaded. */
  requests: string[]
  give(...files: [name: string, content: string | Buffer][]): Promise<void>
  /** Takes everything back, then gives these. */
  giveOnly(...files: [name: string, content: string | Buffer][]): Promise<void>
  says(verdict: keyof typeof verdicts): Promise<void>
  /** The text of the page, or of one heading, without the signs that isolate names. */
  said(heading?: Heading): Promise<string>
}

type Heading = 'Proven' | 'Does not hold' | 'Not proven' | 'What this does not prove'

interface Setting {
  browser: ReturnType<typeof openBrowser>
  service: { baseUrl: string; client(): Client }
  /** Saves the page to this file, and opens that. */
  file?: string
}

/** Opens the page and takes its network away. */
export async function checker(t: TestContext, { browser, service, file }: Setting): Promise<Checker> {
  const person = await browser.person(t, { service })
  const { page } = person
  if (file === undefined) await page.goto('/verify')
  else {
    await writeFile(file, (await service.client().get('/verify')).text)
    person.expectFault(/^request to another origin: file:\/\//)
    await page.goto(pathToFileURL(file).href)
  }
  await person.network('stopped')
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  const give: Checker['give'] = (...files) =>
    page
      .getByLabel('Choose files')
      .setInputFiles(files.map(([name, content]) => ({ name, mimeType: '', buffer: Buffer.from(content) })))
  return {
    person,
    page,
    requests,
    give,
    async giveOnly(...files) {
      const remove = page.getByRole('button', { name: 'Remove' })
      for (let left = await remove.count(); left > 0; left -= 1) await remove.first().click()
      await page.getByRole('status').getByText(verdicts.nothing, { exact: true }).waitFor()
      await give(...files)
    },
    says: (verdict) => page.getByRole('status').getByText(verdicts[verdict], { exact: true }).waitFor(),
    async said(heading) {
      const texts = await (heading ? statements(page, heading) : page.getByRole('article')).allTextContents()
      return texts.join('\n').replaceAll(/[\u2068\u2069]/g, '')
    },
  }
}

export const statements = (page: Page, heading: Heading): Locator =>
  page.locator('section.statements', { has: page.getByRole('heading', { name: heading, exact: true }) })
