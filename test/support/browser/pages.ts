import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { newClient, newUser } from '../accounts.ts'
import { seal } from '../log.ts'
import { createdId } from '../orders.ts'
import type { Service } from '../service.ts'
import { keepWebhook } from '../webhooks.ts'

/** The values of the parameters in the app's routes, by the path before them. */
export type Things = Record<string, string>

/** One of each thing that has a page, and a pending order, with which a review begins. */
export async function oneOfEach(service: Service, customer: string, total: number): Promise<Things> {
  const [operator, admin] = [await service.bearer('operator'), await service.bearer('admin')]
  const order = await createdId(operator, { customer, total })
  assert.equal((await operator.post(`/v1/orders/${order}/notes`, { text: customer })).status, 201)
  assert.equal((await admin.patch(`/v1/orders/${order}/approve`)).status, 204)
  await createdId(operator, { customer, total })
  const { id: user } = await newUser(service)
  const { id: client } = await newClient(service)
  const webhook = randomUUID()
  await keepWebhook(service, webhook)
  await seal(service.db)
  return {
    '/orders': order,
    '/accounts/users': String(user),
    '/accounts/services': String(client),
    '/webhooks': webhook,
    '/problems': 'order-not-pending',
  }
}

/** The address of every page of the app, from its table of routes. */
export async function everyPage(page: Page, things: Things): Promise<string[]> {
  const paths = await page.evaluate<string[]>('Object.keys(__TSR_ROUTER__.routesByPath)')
  return paths.map((path) =>
    path.replace(/^(.+)\/\$\w+/, (_, before: string) => {
      assert.ok(things[before], `nothing to open at ${path}`)
      return `${before}/${things[before]}`
    }),
  )
}

/** Lets `answered` know of every request. Installed before the page's scripts. */
export const countRequests = `{
  const send = fetch
  let open = 0
  globalThis.fetch = (...request) => {
    open += 1
    return send(...request).finally(() => { open -= 1 })
  }
  Object.defineProperty(globalThis, 'openRequests', { get: () => open })
}`

/** Waits until the page has and shows every answer that it has asked for. */
export async function answered(page: Page): Promise<void> {
  await page.evaluate(`(async () => {
    const frame = () => new Promise(requestAnimationFrame)
    do { await frame(); await frame() }
    while (openRequests > 0 || document.querySelector('[aria-busy="true"]'))
  })()`)
}
