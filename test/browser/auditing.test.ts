import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, describe, it } from 'node:test'
import { heading } from '../support/browser/journeys.ts'
import { openBrowser } from '../support/browser/person.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ clockRuns: true, until: { after } })
const file = readFileSync(new URL('../../docs/auditing.md', import.meta.url), 'utf8')

const matches = (pattern: RegExp) => [...file.matchAll(pattern)].map(([, text]) => text)

describe('the page on checking the log', () => {
  it('has the sections and scripts of docs/auditing.md, for everyone', async (t) => {
    const { page } = await browser.person(t, { service })
    await page.goto('/auditing')
    await heading(page, 'Checking the log').waitFor()
    const article = page.getByRole('article')
    const sections = await article.getByRole('heading', { level: 2 }).allTextContents()
    assert.deepEqual(sections, matches(/^## (.*)$/gm))
    const scripts = await article.locator('pre').allTextContents()
    assert.deepEqual(scripts, matches(/^```\w+\n([\s\S]*?\n)```$/gm))
    const rows = await article.getByRole('row').count()
    assert.equal(rows, matches(/^(\|(?! *-).*)$/gm).length)
  })
})
