import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { after, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { newLink, newUser } from '../support/accounts.ts'
import { signInHeading } from '../support/browser/journeys.ts'
import { followLink, visit } from '../support/browser/orders.ts'
import { answered, everyPage, oneOfEach } from '../support/browser/pages.ts'
import { openBrowser, sideBySide, signIn } from '../support/browser/person.ts'
import { startService } from '../support/service.ts'

const browser = openBrowser()
const service = await startService({ orders: true, clockRuns: true, until: { after } })
const longThings = await oneOfEach(service, `Sons of ${'W'.repeat(160)}`, 99_999_999_999.9999)
const things = await oneOfEach(service, 'Acme', 1250.5)

/** The narrowest width of each layout: a wider one has more room. */
const edges = `[...document.styleSheets].flatMap(({ cssRules }) => [...cssRules])
  .flatMap((rule) => [...(rule.media?.mediaText ?? '').matchAll(/width ([<>])= (\\d+)px/g)])
  .map(([, sign, width]) => Number(width) + Number(sign === '<'))`
/** Between its edges a layout is only stretched. */
const steps = Array.from({ length: 8 }, (_, index) => 320 + 160 * index)

const phone = { width: 390, height: 844 }
const lateMilliseconds = 300

/**
 * The page's CLS as web.dev defines it: the worst burst of layout shifts, less than a second apart and within
 * five seconds.
 */
const observeShifts = `{
  let worst, burst, begun, last
  const takeShift = () => {
    const before = worst;
    [worst, burst, begun, last] = [0, 0, -Infinity, -Infinity]
    return before
  }
  takeShift()
  new PerformanceObserver((list) => {
    for (const { value, startTime } of list.getEntries()) {
      const goesOn = startTime - last < 1000 && startTime - begun < 5000
      burst = goesOn ? burst + value : value
      if (!goesOn) begun = startTime
      last = startTime
      worst = Math.max(worst, burst)
    }
  }).observe({ type: 'layout-shift', buffered: true })
  Object.defineProperty(globalThis, 'takeShift', { value: takeShift })
}`

/** Elements that do not fit. On a phone, the head takes at most 15 % of the screen. */
const misfits = `(() => {
  const cut = [...document.querySelectorAll('.side :is(a, button)')].filter((control) => {
    const { left, right, top, bottom } = control.getBoundingClientRect()
    return left < 0 || top < 0 || right > innerWidth || bottom > innerHeight
  })
  const found = cut.map(({ textContent }) => textContent + ' is cut off')
  const sideways = document.documentElement.scrollWidth - innerWidth
  if (sideways > 0) found.push('scrolls by ' + sideways)
  const head = document.querySelector('.side')?.offsetHeight ?? 0
  if (innerWidth === 390 && head > 0.15 * innerHeight) found.push('the head takes ' + head)
  return found
})()`

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

describe('at every width', () => {
  const person = browser.stayingPerson({ service })

  it('every page and the controls of its head fit, and a form says in words of the app what it lacks', async () => {
    const user = await newUser(service, { roles: ['Admin'] })
    const page = await visit(person, user, '/')
    const faults: string[] = []
    let forms = 0
    for (const path of await everyPage(page, longThings)) {
      await visit(person, user, path)
      await answered(page)
      const ofWidths = await faultsOf(page)
      const [ofForms, count] = await page.evaluate<[string[], number]>(submitEmpty)
      faults.push(...[...ofWidths, ...ofForms].map((fault) => `${path} ${fault}`))
      forms += count
    }
    assert.deepEqual(faults, [])
    assert.ok(forms >= 8)
  })

  for (const role of ['Operator', 'Viewer', undefined]) {
    it(`the controls of the head fit for ${role ?? 'a user without a role'}`, async () => {
      const page = await visit(person, await newUser(service, { roles: role ? [role] : [] }), '/')
      await answered(page)
      assert.deepEqual(await faultsOf(page), [])
    })
  }

  it('the forms of someone who is not signed in say it, too', async () => {
    const { page } = person
    const user = await newUser(service)
    const link = `/link#token=${await newLink(service, user)}&email=${user.email}`
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signInHeading(page).waitFor()
    assert.deepEqual(await page.evaluate(submitEmpty), [[], 1])
    await page.goto(link)
    await page.locator('form').waitFor()
    await answered(page)
    assert.deepEqual(await page.evaluate(submitEmpty), [[], 1])
  })

  /** Sends all widths at once: waiting for each would take twice as long. */
  async function faultsOf(page: Page): Promise<string[]> {
    const session = await page.context().newCDPSession(page)
    const between = await page.evaluate<number[]>(edges)
    assert.ok(between.length >= 12)
    const found = [...new Set([phone.width, ...steps, ...between])].map(async (width) => {
      const size = { width, height: 844, deviceScaleFactor: 1, mobile: false }
      void session.send('Emulation.setDeviceMetricsOverride', size)
      const asked = { expression: `[innerWidth, ...${misfits}]`, returnByValue: true }
      const { result } = await session.send('Runtime.evaluate', asked)
      const [at, ...faults] = result.value
      assert.equal(at, width)
      return faults.map((fault: string) => `at ${width}: ${fault}`)
    })
    const faults = (await Promise.all(found)).flat()
    await session.send('Emulation.clearDeviceMetricsOverride')
    await session.detach()
    return faults
  }
})

it('one component draws all forms', () => {
  const drawing = globSync('web/src/**/*.tsx').filter((file) => /<form\b/.test(readFileSync(file, 'utf8')))
  assert.deepEqual(drawing, ['web/src/ui/form.tsx'])
})

describe('no page jumps when its answers and fonts come late', sideBySide, () => {
  for (const [name, viewport] of Object.entries({ wide: { width: 1280, height: 800 }, narrow: phone })) {
    it(`in a ${name} window`, async (t) => {
      const person = await browser.person(t, { service, viewport })
      const { page } = person
      await signIn(person, 'admin')
      await page.addInitScript(observeShifts)
      // "12 minutes ago" takes more room than "just now".
      await page.clock.setFixedTime(Date.now() + 12 * 60_000)
      await page.route('**/*.woff2', async (route) => {
        await pause(2 * lateMilliseconds)
        await route.fallback()
      })
      await page.route('**/v1/**', async (route) => {
        await pause(lateMilliseconds)
        await route.fallback()
      })
      const jumps: string[] = []
      const judge = async (path: string) => {
        await answered(page)
        const shift = await page.evaluate<number>('takeShift()')
        if (shift > 0.05) jumps.push(`${path} by ${shift.toFixed(3)}`)
      }
      for (const path of ['/', '/orders', `/orders/${things['/orders']}`]) {
        await page.goto(path)
        await page.evaluate('document.fonts.ready')
        await judge(path)
      }
      // Later pages find the fonts and the head of the first ones, and wait for their own answers.
      for (const path of await everyPage(page, things)) {
        await followLink(page, path)
        await page.evaluate('new Promise(requestAnimationFrame).then(takeShift)')
        await judge(path)
      }
      assert.deepEqual(jumps, [])
    })
  }
})
