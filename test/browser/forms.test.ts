import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { after, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { newLink, newUser } from '../support/accounts.ts'
import { visit } from '../support/browser/orders.ts'
import { answered, everyPage, oneOfEach } from '../support/browser/pages.ts'
import { openBrowser } from '../support/browser/person.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ orders: true, clockRuns: true, until: { after } })

/** Empties each form, submits it, and returns what a person then finds: empty when all is well. */
const submitEmpty = `(async () => {
  const isFault = (field) => field.required && !field.readOnly && field.value === ''
  const messageOf = (field) => [...(field.getAttribute('aria-describedby') ?? '').split(' ')]
    .map((id) => document.getElementById(id)?.textContent ?? '').join('')
  const drawn = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
  const found = []
  for (const part of document.querySelectorAll('details')) part.open = true
  for (const form of document.forms) {
    const fields = [...form.querySelectorAll('input, textarea')].filter(({ required, readOnly }) => required && !readOnly)
    const silent = fields.map(messageOf)
    for (const field of fields) {
      Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value').set.call(field, '')
      field.dispatchEvent(new Event('input', { bubbles: true }))
    }
    form.requestSubmit()
    await drawn()
    if (!form.noValidate) found.push('the browser checks ' + (form.ariaLabel ?? form.className))
    for (const [index, field] of fields.filter(isFault).entries()) {
      const name = field.labels[0].textContent
      if (field.ariaInvalid !== 'true') found.push(name + ' is not marked')
      if (messageOf(field) === silent[index]) found.push(name + ' has no message')
      if (index === 0 && document.activeElement !== field) found.push(name + ' has no focus')
    }
  }
  return [found, document.forms.length]
})()`

describe('a form that lacks something says so in words of the app', () => {
  const person = browser.stayingPerson({ service })

  async function check(page: Page, path: string): Promise<{ faults: string[]; forms: number }> {
    await answered(page)
    const [faults, forms] = await page.evaluate<[string[], number]>(submitEmpty)
    return { faults: faults.map((fault) => `${path}: ${fault}`), forms }
  }

  it('on every page', async () => {
    const things = await oneOfEach(service, 'Acme', 1250.5)
    const user = await newUser(service, { roles: ['Admin'] })
    const page = await visit(person, user, '/')
    const found = []
    for (const path of await everyPage(page, things)) {
      await visit(person, user, path)
      found.push(await check(page, path))
    }
    assert.deepEqual(
      found.flatMap(({ faults }) => faults),
      [],
    )
    assert.ok(found.reduce((sum, { forms }) => sum + forms, 0) >= 8)
  })

  it('to someone who is not signed in', async (t) => {
    const { page } = await browser.person(t, { service })
    const user = await newUser(service)
    const link = `/link#token=${await newLink(service, user)}&email=${user.email}`
    for (const path of ['/sign-in', link]) {
      await page.goto(path)
      await page.locator('form').waitFor()
      assert.deepEqual(await check(page, path), { faults: [], forms: 1 })
    }
  })

  it('in every other place, because there is one component for forms', () => {
    const drawing = globSync('web/src/**/*.tsx').filter((file) => /<form\b/.test(readFileSync(file, 'utf8')))
    assert.deepEqual(drawing, ['web/src/ui/form.tsx'])
  })
})
