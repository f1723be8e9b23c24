import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { onlyOrders, orderRow } from '../support/orders.ts'
import { sharedService } from '../support/shared-service.ts'

/** One character that folds to eighteen, and one that folds to four of a kind. */
const phrase = '\uFDFA'
const four = '⨌'
const each = 600

/** Customers and texts are chosen to be compared for as long as possible. */
describe('a filter for long texts that repeat themselves, among customers that do', () => {
  const service = sharedService()
  const customers = [phrase.repeat(200), four.repeat(200)]
  const rows = customers.flatMap((customer) => Array.from({ length: each }, () => orderRow({ customer })))
  onlyOrders(service, [...rows, orderRow({ customer: `${four.repeat(150)} end` })])
  let caller: Client
  let other: Client
  before(async () => {
    caller = await service.bearer('operator')
    other = await service.bearer('viewer')
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
    it(`finds what there is: ${filter.slice(0, 20)}… (${filter.length} characters)`, async () => {
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
    it(`is answered in its time, and holds up nobody: ${what}`, async () => {
      const begun = performance.now()
      const slow = list(caller, filter).then((answer) => ({ ...answer, took: performance.now() - begun }))
      assert.equal((await list(other, `customer:"nobody of ${what}"`)).status, 200)
      const waited = performance.now() - begun
      const { status, took } = await slow
      assert.ok([200, 400].includes(status))
      assert.ok(waited < 2_000, `others waited ${waited} ms`)
      assert.ok(took < 4_000, `${took} ms`)
    })
  }
})
