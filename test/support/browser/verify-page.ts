import { writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import type { Locator, Page } from 'playwright-core'
import type { Client } from '../client.ts'
import type { Person } from './person.ts'

/** The four sentences above all others, or how they begin. */
const verdicts = {
  holds: /^Valid, if /,
  fails: /^Not valid: do not rely on it\.$/,
  unproven: /^Not checked yet: /,
  nothing: /^Nothing to check yet\. Add a certificate, a receipt or a log\.$/,
}

/** Someone at the page /verify. */
export interface Checker {
  page: Page
  /** The requests since the page was loaded. */
  requests: string[]
  /** Adds files without saying where the keys in them are from. */
  add(...files: [name: string, content: string | Buffer][]): Promise<void>
  /** Adds files, and says that the keys in them are from where they say. */
  give(...files: [name: string, content: string | Buffer][]): Promise<void>
  /** Takes everything back, then gives these. */
  giveOnly(...files: [name: string, content: string | Buffer][]): Promise<void>
  says(verdict: keyof typeof verdicts): Promise<void>
  /** The text of the heading, without the signs that isolate names. */
  said(heading: Heading): Promise<string>
}

export const headings = [
  'Proven',
  'Does not hold',
  'Still needed',
  'What it says',
  'What this does not prove',
] as const
type Heading = (typeof headings)[number]

/** Opens the page, or this file as a saved one of it, and takes its network away. */
export async function checker(
  person: Person,
  service: { client(): Client },
  file?: string,
): Promise<Checker> {
  const { page } = person
  await person.network('normal')
  if (file === undefined) {
    const keys = page.waitForResponse('**/v1/log/key')
    await page.goto('/verify')
    await (await keys).finished()
  } else {
    await writeFile(file, (await service.client().get('/verify')).text)
    person.expectFault(/^request to another origin: file:\/\//)
    await page.goto(pathToFileURL(file).href)
  }
  await person.network('stopped')
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.url()))
  const idle = page.locator('#verdict[aria-busy=false]')
  const add: Checker['add'] = async (...files) => {
    const all = files.map(([name, content]) => ({ name, mimeType: '', buffer: Buffer.from(content) }))
    await page.getByLabel('Choose files').setInputFiles(all)
    await idle.waitFor()
  }
  const give: Checker['give'] = async (...files) => {
    await add(...files)
    const claims = page.getByRole('button', { name: /^I have the key in / })
    for (let left = await claims.count(); left > 0; left = await claims.count()) {
      await claims.first().click()
      await idle.waitFor()
    }
  }
  return {
    page,
    requests,
    add,
    give,
    async giveOnly(...files) {
      const remove = page.getByRole('button', { name: 'Remove' })
      for (let left = await remove.count(); left > 0; left -= 1) await remove.first().click()
      await page.getByRole('status').getByText(verdicts.nothing).waitFor()
      await give(...files)
    },
    says: (verdict) => page.getByRole('status').getByText(verdicts[verdict]).waitFor(),
    async said(heading) {
      const texts = await statements(page, heading).allTextContents()
      return texts.join('\n').replaceAll(/[\u2068\u2069]/g, '')
    },
  }
}

export const statements = (page: Page, heading: Heading): Locator =>
  page.locator('section.statements', { has: page.getByRole('heading', { name: heading, exact: true }) })
