import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type axe from 'axe-core'
import type { Page } from 'playwright-core'

const source = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/**
 * Waits for elements that fade in or out, because half-way their colours lack contrast. The end of one fade
 * may start another in an element that inherits its colour. It asks in every frame, because a fade that a
 * resize replaces reports no end. Endless animations are not waited for.
 */
const settled = `(async () => {
  const isFading = ({ effect, playState }) =>
    playState !== 'finished' && effect?.getComputedTiming().endTime !== Infinity
  do await new Promise(requestAnimationFrame)
  while (document.getAnimations().some(isFading))
})()`

/**
 * Throws a readable error for violations of WCAG 2.2 A and AA or of axe's best practices in the current page.
 * The source of axe is injected through the debugger, which no content security policy blocks.
 */
export function checkAccessibility(page: Page): Promise<void> {
  return check(page, { type: 'tag', values: tags })
}

/** Checks only the rules about colours, for another theme of a page that has passed all rules. */
export function checkColours(page: Page): Promise<void> {
  return check(page, { type: 'rule', values: ['color-contrast', 'link-in-text-block'] })
}

async function check(page: Page, runOnly: axe.RunOnly): Promise<void> {
  await page.evaluate(settled)
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(source)
  const options = JSON.stringify({ runOnly, resultTypes: ['violations'] })
  const { violations } = await page.evaluate<{ violations: axe.Result[] }>(`axe.run(document, ${options})`)
  if (violations.length > 0) assert.fail(`axe at ${page.url()}\n${violations.map(describe).join('\n')}`)
}

function describe({ id, help, nodes }: axe.Result): string {
  const places = nodes.map(
    ({ target, html, failureSummary = '' }) =>
      `  ${target.join(' ')}: ${html}\n    ${failureSummary.replaceAll('\n', '\n    ')}`,
  )
  return `${id}: ${help}\n${places.join('\n')}`
}
