import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { hold } from '../support/browser/journeys.ts'
import { visit } from '../support/browser/orders.ts'
import { openBrowser, screenshot } from '../support/browser/person.ts'
import { createdId } from '../support/orders.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ orders: true, until: { after } })

const rows = (page: Page) => page.getByRole('row').filter({ has: page.getByRole('link') })

describe('with reduced motion', () => {
  const person = browser.stayingPerson({ service })

  it('nothing moves, neither opening dialogs nor placeholders of loading data', async () => {
    const page = await visit(person, 'admin', '/')
    await page.getByRole('heading', { name: 'Orders per day' }).waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    assert.deepEqual(await page.evaluate(movements), [])
    await page.keyboard.press('Escape')
    const release = await hold(page, '**/v1/orders?*')
    await page.getByRole('link', { name: 'Orders', exact: true }).click()
    await page.locator('.list-card .skeleton').waitFor()
    assert.deepEqual(await page.evaluate(movements), [])
    await release()
    await rows(page).first().waitFor()
  })

  const movements = `document.getAnimations().filter(({ playState }) => playState === 'running')
    .map(({ animationName, transitionProperty, effect }) => [animationName ?? transitionProperty, effect.target.className])`
})

describe('on paper', () => {
  const person = browser.stayingPerson({ service })

  it('prints a list as its table and an order as its facts, without buttons', async () => {
    const page = await visit(person, 'admin', '/orders?orderBy=customer')
    await rows(page).nth(24).waitFor()
    await page.emulateMedia({ media: 'print' })
    assert.deepEqual(await visibleOf(page), { links: false, search: false, newOrder: false, rows: 25 })
    await screenshot(page, 'print-orders')
    const { width = 0, height = 0 } = page.viewportSize() ?? {}
    await page.setViewportSize({ width: 600, height })
    const caption = await page.locator('caption').boundingBox()
    assert.ok((caption?.width ?? 0) > 400, `on narrow paper the caption is ${caption?.width} px wide`)
    await screenshot(page, 'print-orders-narrow')
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ media: 'screen' })
    const id = await createdId(await service.bearer('operator'), { customer: 'Northwind Trading' })
    await visit(person, 'admin', `/orders/${id}`)
    await page.getByText('Created by').first().waitFor()
    await page.emulateMedia({ media: 'print' })
    assert.equal(await page.getByRole('navigation', { name: 'Main' }).isVisible(), false)
    await screenshot(page, 'print-order')
  })

  async function visibleOf(page: Page) {
    return {
      links: await page.getByRole('navigation', { name: 'Main' }).isVisible(),
      search: await page.getByRole('combobox', { name: 'Search the orders' }).isVisible(),
      newOrder: await page.getByRole('link', { name: 'New order' }).isVisible(),
      rows: await rows(page).count(),
    }
  }
})
