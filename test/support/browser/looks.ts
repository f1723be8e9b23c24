import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { checkAccessibility, checkColours } from './accessibility.ts'
import { type Person, screenshot } from './person.ts'

/** Something that a person can see. `reach` leads there, and expects the console's faults on the way. */
export interface View {
  name: string
  reach(person: Person): Promise<void>
}

const narrow = { width: 390, height: 844 }
const widths = { narrow, wide: { width: 1280, height: 800 } }

/** How far the page, or a dialog in it, scrolls sideways. If it does, something is too wide. */
const sidewaysScroll = `Math.max(...[document.documentElement, ...document.querySelectorAll('.dialog')]
  .map((element) => element.scrollWidth - element.clientWidth))`

/**
 * One person goes through the views; each is a subtest. The way there uses the narrow window, because all
 * other tests use a wide one. Width and theme change only the style.
 */
export async function lookAt(
  t: TestContext,
  person: Person,
  views: readonly View[],
  more: Record<string, typeof narrow> = {},
): Promise<void> {
  const { page, assertClean } = person
  for (const { name, reach } of views) {
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
