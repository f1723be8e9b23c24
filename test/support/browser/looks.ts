import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { checkAccessibility, checkColours } from './accessibility.ts'
import { type Person, screenshot } from './person.ts'

/**
 * The views of a person, by name. Each function leads to its view, and expects faults of the console on the
 * way.
 */
export type Views = Record<string, (person: Person) => Promise<void>>

const narrow = { width: 390, height: 844 }
const widths = { narrow, wide: { width: 1280, height: 800 } }

/** How far the page, or a dialog in it, scrolls sideways. If it does, something is too wide. */
const sidewaysScroll = `Math.max(...[document.documentElement, ...document.querySelectorAll('.dialog')]
  .map((element) => element.scrollWidth - element.clientWidth))`

/**
 * One person goes through the views; each is a subtest. Views are opened in the narrow window, because all
 * other tests use a wide one. Width and theme change only the style.
 */
export async function lookAt(
  t: TestContext,
  person: Person,
  views: Views,
  more: Record<string, typeof narrow> = {},
): Promise<void> {
  const { page, assertClean } = person
  for (const [name, reach] of Object.entries(views)) {
    await t.test(name, { timeout: 90_000 }, async () => {
      await page.setViewportSize(narrow)
      await reach(person)
      await page.evaluate('document.fonts.ready')
      for (const [width, viewport] of Object.entries({ ...widths, ...more })) {
        await page.setViewportSize(viewport)
        await screenshot(page, `${name}-light-${width}`)
        assert.equal(await page.evaluate(sidewaysScroll), 0, `it scrolls sideways, ${width}`)
        await checkAccessibility(page)
        await page.emulateMedia({ colorScheme: 'dark' })
        await screenshot(page, `${name}-dark-${width}`)
        await checkColours(page)
        await page.emulateMedia({ colorScheme: 'light' })
      }
      await assertClean()
    })
  }
}
