// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { endOfLog } from '../../server/audit/audit.ts'
import { machineStamp } from '../../server/caller/stamp.ts'
import { findAttempts, findSubscription } from '../../server/outbox/store.ts'
import { newAdministrator } from '../support/administration.ts'
import type { Client } from '../support/client.ts'
import { withRawDatabase } from '../support/database.ts'
import { storedEvents } from '../support/kept-log.ts'
import { addEvents } from '../support/log.ts'
import { createdId } from '../support/orders.ts'
import { assertProblem } from '../support/problem.ts'
import { testService } from '../support/service.ts'
import { until } from '../support/stream.ts'
import {
  newSender,
  newWebhook,
  type Receiver,
  sealAll,
  sendUntil,
  startReceiver,
  toReceivers,
} from '../support/webhooks.ts'
import { contradict } from '../support/witnessed.ts'

describe('the sender', () => {
  const service = testService({ env: toReceivers })

  /** An administrator who has just signed in, and a webhook for the receiver until the test ends. */
  const webhookFor = async (
    t: { after(hook: () => unknown): void },
    { url }: Receiver,
    events: string[] = ['order'],
  ) => {
    await sealAll(service.db)
    const { caller: admin } = await newAdministrator(service)
    const webhook = await newWebhook(admin, { url, events })
    const { id } = webhook
    t.after(() => service.db.write('removeWebhook', { id, stamp: machineStamp(service.now()) }))
    return { ...webhook, admin, state: () => stateOf(id) }
  }
  const stateOf = async (id: string) => {
    const found = await findSubscription(service.db.read, id, 'webhook')
    assert.ok(found)
    const end = await endOfLog(service.db.read)
    return { ...found, isUpToDate: found.place.sequence === end.sequence }
  }
  const create = async (admin: Client, count: number) => {
    const ids: string[] = []
    for (let number = 0; number < count; number += 1) ids.push(await createdId(admin))
    await sealAll(service.db)
    return ids
  }
  const sender = (t: { after(hook: () => unknown): void }, said: string[] = []) => {
    const note = (_line: object, message = '') => said.push(message)
    const made = newSender(service, { log: { info: note, warn: note } as never })
    t.after(() => made.stop())
    return made
  }
  const sequencesOf = ({ received }: Receiver) => received.map(({ sequence }) => sequence)

  it('sends what a webhook asks for, in the order of the log, with the newest checkpoint', async (t) => {
    const receiver = await startReceiver(t)
    const { admin, state } = await webhookFor(t, receiver, ['order.created', 'order.approved'])
    const [first = '', second = ''] = await create(admin, 2)
    await admin.post(`/v1/orders/${first}/notes`, { text: 'Not sent.' })
    await admin.patch(`/v1/orders/${second}/approve`)
    await sealAll(service.db)
    await sendUntil(sender(t), async () => (await state()).isUpToDate)
    const told = receiver.received.map(({ text }) => JSON.parse(text))
    assert.deepEqual(
      told.map(({ type, data: { id, version, status } }) => [type, id, version, status]),
      [
        ['order.created', first, 1, 0],
        ['order.created', second, 1, 0],
        ['order.approved', second, 2, 1],
      ],
    )
    const { items } = (await admin.get(`/v1/log?subject=order:${second}&kind=approved`)).body
    const [, , last] = told
    assert.equal(receiver.received[2]?.headers['webhook-id'], items[0].id)
    assert.deepEqual([last.timestamp, last.data.sequence], [items[0].atUtc, items[0].sequence])
    assert.match(last.checkpoint, /^orders\.example\.com\/log\n\d+\n/)
  })

  it('sends nothing while witnesses contradict the log, which is no failure, and goes on in the next era', async (t) => {
    const receiver = await startReceiver(t)
    const { admin, id, state } = await webhookFor(t, receiver)
    await create(admin, 2)
    await contradict(service.db, 1)
    const sending = sender(t)
    await sending.look()
    assertProblem(await admin.post(`/v1/webhooks/${id}/ping`), 503, 'log-contradicted')
    assert.deepEqual(receiver.received, [])
    await service.db.write('beginEra', { atLeast: 1, stamp: machineStamp(service.now()) })
    await sendUntil(sending, async () => (await state()).isUpToDate)
    const attempts = await findAttempts(service.db.read, id)
    assert.deepEqual(
      attempts.map(({ type, failure }) => [type, failure]),
      [
        ['log.log-restored', null],
        ['order.created', null],
        ['order.created', null],
      ],
    )
  })

  it('counts no failure if they contradict it while an event is on its way', async (t) => {
    const receiver = await startReceiver(t)
    const { admin, state } = await webhookFor(t, receiver)
    await create(admin, 2)
    receiver.answer = async (_, response) => {
      await contradict(service.db, 1)
      response.writeHead(204).end()
      receiver.answer = (_message, other) => other.writeHead(204).end()
    }
    const said: string[] = []
    const sending = sender(t, said)
    await sendUntil(sending, () => receiver.received.length === 1)
    for (let turn = 0; turn < 50; turn += 1) await state().then(() => nextTurn())
    assert.deepEqual(said, [])
    await service.db.write('beginEra', { atLeast: 1, stamp: machineStamp(service.now()) })
    await sendUntil(sending, async () => (await state()).isUpToDate)
    assert.equal(receiver.received.length, 3)
  })

  for (const [event, from, to] of [
    ['order', 1, 232],
    ['order.noted', 3, 232],
    ['order.created', 1, 2],
  ] as const) {
    it(`sends each ${event} to one that is several batches of the log behind`, async (t) => {
      const receiver = await startReceiver(t)
      const { admin, state } = await webhookFor(t, receiver, [event])
      await sealAll(service.db)
      const { sequence: before } = await endOfLog(service.db.read)
      await create(admin, 2)
      await addEvents(service, 230, 0)
      await sendUntil(sender(t), async () => (await state()).isUpToDate)
      const wanted = Array.from({ length: to - from + 1 }, (_, index) => before + from + index)
      assert.deepEqual(sequencesOf(receiver), wanted)
    })
  }

  for (const [asked, seconds] of [
    ['120', 120],
    ['3', 5],
    ['7200', 3_600],
    ['soon', 5],
  ] as const) {
    it(`tries again after ${seconds} s if the receiver asks for \`Retry-After: ${asked}\``, async (t) => {
      const receiver = await startReceiver(t)
      receiver.answer = (_message, response) => response.writeHead(503, { 'retry-after': asked }).end()
      const { admin, state } = await webhookFor(t, receiver)
      await create(admin, 1)
      await sendUntil(sender(t), async () => (await state()).failures === 1)
      const { failingSince, nextAttemptAt } = await state()
      assert.equal(nextAttemptAt, Number(failingSince) + seconds * 1_000)
    })
  }

  it('sends everything that is due when it looks once, and each event once when it looks twice', async (t) => {
    const receiver = await startReceiver(t)
    const { admin, state } = await webhookFor(t, receiver)
    await create(admin, 3)
    const running = sender(t)
    await Promise.all([running.look(), running.look()])
    await until(async () => (await state()).isUpToDate)
    assert.equal(receiver.received.length, 3)
  })

  it('passes over what a webhook does not ask for', async (t) => {
    const receiver = await startReceiver(t)
    const { admin, state } = await webhookFor(t, receiver, ['role'])
    await create(admin, 120)
    await sendUntil(sender(t), async () => (await state()).isUpToDate)
    assert.deepEqual(receiver.received, [])
  })

  it('waits after a failure and goes on in order, without loss', async (t) => {
    const receiver = await startReceiver(t)
    let asked = 0
    receiver.answer = (_message, response) => {
      asked += 1
      response.writeHead(asked % 2 === 1 ? 500 : 200).end('The answer.')
    }
    const { admin, state } = await webhookFor(t, receiver)
    await create(admin, 3)
    const said: string[] = []
    await sendUntil(sender(t, said), async () => {
      service.advance(1_000)
      return (await state()).isUpToDate
    })
    const [failed, works] = ['an event was not delivered', 'events are delivered again']
    await until(() => said.length >= 6)
    assert.deepEqual(said, [failed, works, failed, works, failed, works])
    // The clock goes on while a message is on its way, so its arrival says nothing.
    const sentAt = receiver.received.map(({ headers }) => Number(headers['webhook-timestamp']))
    for (const place of [0, 2, 4]) {
      assert.ok(Number(sentAt[place + 1]) >= Number(sentAt[place]) + 5)
    }
    const sequences = sequencesOf(receiver)
    assert.equal(sequences.length, 6)
    assert.deepEqual(
      sequences,
      [0, 0, 1, 1, 2, 2].map((place) => [...new Set(sequences)].sort()[place]),
    )
  })

  it('does not wait for a time that only a clock that was ahead could plan', async (t) => {
    const receiver = await startReceiver(t)
    const { admin, state, id } = await webhookFor(t, receiver)
    await create(admin, 1)
    // After one failure, a receiver can ask for an hour.
    for (const [ahead, isSent] of [
      [3_660_000, false],
      [3_660_001, true],
    ] as const) {
      await withRawDatabase(service.databaseUrl, (db) =>
        db
          .updateTable('subscriptions')
          .set({ failures: 1, next_attempt_at: service.now() + ahead })
          .where('id', '=', id)
          .execute(),
      )
      await nextTurn()
      await sender(t).look()
      if (isSent) await until(async () => (await state()).isUpToDate)
      assert.equal(receiver.received.length, Number(isSent))
    }
  })

  it('does not wait for receivers that hang', async (t) => {
    const hanging = await Promise.all(Array.from({ length: 9 }, () => startReceiver(t)))
    for (const receiver of hanging) {
      receiver.answer = () => undefined
      await webhookFor(t, receiver)
    }
    const prompt = await startReceiver(t)
    const { admin } = await webhookFor(t, prompt)
    await create(admin, 20)
    await sendUntil(sender(t), () => prompt.received.length === 20)
    assert.deepEqual(
      hanging.map(({ received }) => received.length),
      Array.from({ length: 9 }, () => 1),
    )
  })

  it('disables a webhook after three days of failures, with an event', async (t) => {
    const receiver = await startReceiver(t)
    receiver.answer = (_message, response) => response.writeHead(503).end('Down\u202e for\nmaintenance')
    const { admin, id, state } = await webhookFor(t, receiver)
    await create(admin, 1)
    const said: string[] = []
    const running = sender(t, said)
    const began = service.now()
    const pauses: number[] = []
    let last = began
    for (let now = await state(); now.enabled; ) {
      const before = now.failures
      await sendUntil(running, async () => (await state()).failures > before)
      pauses.push(Math.round((service.now() - last) / 1000))
      last = service.now()
      now = await state()
      service.advance(Math.max(0, (now.nextAttemptAt ?? 0) - service.now()))
    }
    const hour = 3_600
    assert.deepEqual(pauses.slice(0, -1), [
      0,
      5,
      30,
      300,
      1_800,
      2 * hour,
      5 * hour,
      10 * hour,
      14 * hour,
      12 * hour,
      12 * hour,
      12 * hour,
    ])
    assert.equal(last - began, 72 * hour * 1000)
    const { disabledBecause } = await state()
    assert.equal(disabledBecause, 'failing')
    await until(() => said.length >= 2)
    assert.deepEqual(said, ['an event was not delivered', 'a subscription was disabled'])
    const [attempt] = await findAttempts(service.db.read, id)
    assert.deepEqual([attempt?.status, attempt?.answer], [503, 'Down for maintenance'])
    const event = (await storedEvents(service.db.read, id)).at(-1)
    assert.deepEqual([event?.kind, JSON.parse(event?.data ?? '').because], ['webhook-disabled', 'failing'])
  })
})
