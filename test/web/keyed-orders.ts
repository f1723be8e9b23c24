import { answerWith } from '../support/page.ts'

/** What happens to the answer of one request: it arrives, it is lost, or the service is down. */
type Fate = 'arrives' | 'lost' | 'unavailable'

/**
 * `POST /v1/orders` as the contract says: the first request under a key creates an order, every other one
 * gets the same answer. `fates` are those of the next requests.
 */
export function keyedOrders() {
  const ids = new Map<string, string>()
  const customers: string[] = []
  const keys: (string | null)[] = []
  const fates: (Fate | Promise<Fate>)[] = []
  return {
    fates,
    /** The customers of the orders, in the order of their creation. */
    customers,
    /** One for each request. */
    keys,
    async answer(request: Request): Promise<Response> {
      const { customer } = (await request.json()) as { customer: string }
      const key = request.headers.get('idempotency-key')
      keys.push(key)
      const fate = await fates.shift()
      if (fate === 'unavailable') return new Response('', { status: 503 })
      const known = ids.get(String(key))
      const id = known ?? String(ids.size)
      if (known === undefined) customers.push(customer)
      // Without a key, each request creates an order.
      if (key !== null) ids.set(key, id)
      if (fate === 'lost') throw new TypeError('the connection broke')
      return answerWith(201, { id }, known === undefined ? {} : { 'idempotency-replayed': 'true' })
    },
  }
}
