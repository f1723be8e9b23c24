import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { insertOrders, orderRow } from '../support/orders.ts'
import { setUp, testService } from '../support/service.ts'

/** One character that folds to eighteen, and one that folds to four of a kind. */
const phrase = '\uFDFA'
const four = '⨌'
const each = 600
/**
 * Processor time, including everything that the service does in the meantime, but not waits for the
 * processor.
 */
const costliestMicroseconds = 2_000_000

/** Customers and texts are chosen so that comparing them takes as long as possible. */
describe('a filter with long repetitive texts, on repetitive customers', () => {
  // Runs in this process, whose processor time is measured.
  const service = testService({ inside: true })
  const customers = [phrase.repeat(200), four.repeat(200)]
  const rows = customers.flatMap((customer) => Array.from({ length: each }, () => orderRow({ customer })))
  const caller = setUp(() => service.bearer('operator'))
  const other = setUp(() => service.bearer('viewer'))
  before(async () => {
    await insertOrders(service, [...rows, orderRow({ customer: `${four.repeat(150)} end` })])
  })

  const list = (by: Client, filter: string) => by.get(`/v1/orders?filter=${encodeURIComponent(filter)}`)
  const times = (count: number, text: string) => Array(count).fill(text).join(' ')

  const found: [filter: string, count: number][] = [
    [`customer:"${phrase.repeat(100)}"`, each],
    [`customer:"${phrase.repeat(100)}x"`, 0],
    [`"${four.repeat(150)} e"`, 1],
    [`-"${four.repeat(150)} e"`, 2 * each],
    [`customer="*${four.repeat(150)}"`, each],
    [`customer="*${four.repeat(150)} end"`, 1],
    [`customer!="*${four.repeat(150)} end"`, 2 * each],
    [`customer="*${'∫'.repeat(30)} e*"`, 1],
  ]
  for (const [filter, count] of found) {
    it(`finds every match: ${filter.slice(0, 20)}… (${filter.length} characters)`, async () => {
      const { status, body } = await list(caller, filter)
      assert.deepEqual([status, body.totalCount], [200, count])
    })
  }

  const costly = {
    'a phrase that is there': `customer:"${phrase.repeat(190)}"`,
    'a phrase that is nearly there': `"${phrase.repeat(300)}"`,
    'characters of a kind': `"${four.repeat(890)}"`,
    'texts to be kept out': times(25, `-"${four.repeat(33)}x"`),
    'customers to be kept out': times(25, `customer!="*${four.repeat(20)}x*"`),
  }
  for (const [what, filter] of Object.entries(costly)) {
    it(`takes little processor time, and holds up no others: ${what}`, async () => {
      const before = process.cpuUsage()
      const [slow, quick] = await Promise.all([
        list(caller, filter),
        list(other, `customer:"nobody of ${what}"`),
      ])
      const { user, system } = process.cpuUsage(before)
      // On a machine with other work, it may be stopped at its limit.
      assert.ok([200, 400].includes(slow.status))
      assert.equal(quick.status, 200)
      assert.ok(user + system < costliestMicroseconds, `${user + system} µs`)
    })
  }
})
