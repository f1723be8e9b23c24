import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { checkAccessibility, checkColours } from './accessibility.ts'
import { type Person, screenshot } from './person.ts'

/**
 * The views of a person, by name. Each function leads to its view, and expects faults of the console on the
 * way.
 */
export type Views = Record<string, (person: Person) => Promise<void>>

const heightPixels = 844
/** The narrowest phone that the app is made for, a usual one, and a computer. */
const [narrowest, narrow, wide] = [320, 390, 1280] as const

/** How far the page, or a dialog in it, scrolls sideways. If it does, something is too wide. */
const sidewaysScroll = `Math.max(...[document.documentElement, ...document.querySelectorAll('.dialog')]
  .map((element) => element.scrollWidth - element.clientWidth))`

/** The checkboxes that are no squares. */
const oblongs = `[...document.querySelectorAll('input[type=checkbox]:not(.cover)')]
  .map((box) => [box.offsetWidth, box.offsetHeight]).filter(([width, height]) => width !== height)`

/**
 * One person goes through the views; each is a subtest. A view is opened in a narrow window, because all
 * other tests use a wide one. No width makes it scroll sideways. All rules of accessibility are checked once,
 * in the wide window, and the colours of the dark theme in the narrow one: width and theme change only the
 * style.
 */
export async function lookAt(t: TestContext, person: Person, views: Views): Promise<void> {
  const { page, assertClean } = person
  const resize = (width: number) => page.setViewportSize({ width, height: heightPixels })
  for (const [name, reach] of Object.entries(views)) {
    await t.test(name, { timeout: 90_000 }, async () => {
      await resize(narrow)
      await reach(person)
      await page.evaluate('document.fonts.ready')
      for (const width of [narrow, narrowest, wide]) {
        await resize(width)
        assert.equal(await page.evaluate(sidewaysScroll), 0, `it scrolls sideways at ${width}`)
      }
      assert.deepEqual(await page.evaluate(oblongs), [], 'a checkbox is oblong')
      await screenshot(page, `${name}-light-wide`)
      await checkAccessibility(page)
      await resize(narrow)
      await page.emulateMedia({ colorScheme: 'dark' })
      await screenshot(page, `${name}-dark-narrow`)
      await checkColours(page)
      await page.emulateMedia({ colorScheme: 'light' })
      await assertClean()
    })
  }
  await resize(wide)
}
