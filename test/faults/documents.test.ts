// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from '../support/client.ts'
import { addDocument, digestOf } from '../support/documents.ts'
import { isLong, randomOf } from '../support/faults.ts'
import { createdId } from '../support/orders.ts'
import { at, bearerOf, newProduction } from '../support/production.ts'

const senders = 20
const rounds = isLong ? 10 : 1
const documentBytes = 1_000_000

interface Sent {
  orderId: string
  /** Of the acknowledged documents, by id. */
  digests: Map<string, string>
}

describe('the service, killed while documents arrive', () => {
  it(`has each acknowledged document whole, and no other (${senders} senders)`, async (t) => {
    const random = randomOf('documents')
    const production = await newProduction()
    t.after(() => production.remove())
    let server = await production.serve({ DOCUMENT_BYTES_PER_HOUR: '1000000000000' })
    for (let round = 0; round < rounds; round += 1) {
      const caller = await bearerOf(server.baseUrl, 'operator')
      const orders = await Promise.all(
        Array.from({ length: senders }, async (): Promise<Sent> => {
          return { orderId: await createdId(caller), digests: new Map() }
        }),
      )
      let isKilled = false
      const work = orders.map(async (order, index) => {
        for (let number = 0; number < 5 && !isKilled; number += 1) {
          const bytes = Buffer.alloc(documentBytes, index * 5 + number)
          const answer = await addDocument(caller, order.orderId, bytes).catch(() => undefined)
          if (answer?.status !== 201) return
          order.digests.set(answer.body.id, digestOf(bytes))
        }
      })
      const acknowledged = () => orders.reduce((sum, { digests }) => sum + digests.size, 0)
      const enough = 5 + Math.floor(random() * senders)
      while (acknowledged() < enough) await wait(5)
      await server.stop('SIGKILL')
      isKilled = true
      await Promise.all(work)
      server = await production.serve()
      const again = at(server.baseUrl, caller)
      for (const order of orders) await assertWhole(again, order)
      t.diagnostic(`killed after ${acknowledged()} acknowledged documents`)
    }
  })
})

/** A document whose answer was lost may be there too, if it is whole. */
async function assertWhole(caller: Client, { orderId, digests }: Sent): Promise<void> {
  const { body } = await caller.get(`/v1/orders/${orderId}/documents`)
  const order = await caller.get(`/v1/orders/${orderId}`)
  const items = body.items as { id: string; sha256: string; size: number }[]
  const ids = items.map(({ id }) => id)
  for (const [id, digest] of digests) assert.equal(items.find((item) => item.id === id)?.sha256, digest)
  assert.ok(items.length <= digests.size + 1, String(ids))
  assert.equal(order.headers.get('etag'), `"${items.length + 1}"`)
  for (const { id, sha256, size } of items) {
    assert.equal(size, documentBytes)
    const read = await fetch(`${caller.baseUrl}/v1/orders/${orderId}/documents/${id}`, {
      headers: caller.headers,
    })
    assert.equal(digestOf(new Uint8Array(await read.arrayBuffer())), sha256)
  }
}
