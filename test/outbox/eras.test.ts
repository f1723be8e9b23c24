// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { endOfLog } from '../../server/audit/audit.ts'
import { machineStamp } from '../../server/caller/stamp.ts'
import type { Subscription } from '../../server/outbox/outbox.ts'
import { reportOnOutbox } from '../../server/outbox/report.ts'
import { findSubscription } from '../../server/outbox/store.ts'
import { withRawDatabase } from '../support/database.ts'
import { createdId } from '../support/orders.ts'
import { type Service, testService } from '../support/service.ts'
import { newScene, newSender, sealAll, sendUntil, toReceivers } from '../support/webhooks.ts'

/** The write that `log restored` and `restore` make. */
const restored = ({ db, now }: Service) => db.write('beginEra', { atLeast: 0, stamp: machineStamp(now()) })

async function putPlace(
  { databaseUrl }: Service,
  id: string,
  place: Subscription['place'] & { replayed_to?: number },
): Promise<void> {
  await withRawDatabase(databaseUrl, (db) =>
    db.updateTable('subscriptions').set(place).where('id', '=', id).execute(),
  )
  // Reads of one turn of the event loop share a snapshot.
  await setImmediate()
}

describe('after a restore, a webhook', () => {
  const service = testService({ env: toReceivers })

  /** The messages to a webhook at the place after some restores. */
  async function sentFrom(
    t: { after(hook: () => unknown): void },
    placeOf: (end: Subscription['place']) => Subscription['place'],
    restores = 1,
  ) {
    const { receiver, caller, id } = await newScene(t, service)
    await createdId(caller)
    await sealAll(service.db)
    const before = await endOfLog(service.db.read)
    await putPlace(service, id, placeOf(before))
    for (let count = 0; count < restores; count += 1) await restored(service)
    await createdId(caller)
    await sealAll(service.db)
    const end = await endOfLog(service.db.read)
    const sender = newSender(service)
    t.after(() => sender.stop())
    await sendUntil(sender, () => receiver.received.some(({ sequence }) => sequence === end.sequence))
    return receiver.received.map(({ type, sequence }) => [type, Number(sequence) - before.sequence])
  }

  it('that had come beyond the last line left begins with the event of the restore', async (t) => {
    const beyond = await sentFrom(t, ({ era, sequence }) => ({ era, sequence: sequence + 50 }))
    assert.deepEqual(beyond, [
      ['log.log-restored', 1],
      ['order.created', 2],
    ])
  })

  it('that had come less far gets the lines left first', async (t) => {
    const behind = await sentFrom(t, ({ era, sequence }) => ({ era, sequence: sequence - 1 }))
    assert.deepEqual(behind, [
      ['order.created', 0],
      ['log.log-restored', 1],
      ['order.created', 2],
    ])
  })

  it('gets the event of each later restore', async (t) => {
    const twice = await sentFrom(t, ({ era, sequence }) => ({ era, sequence: sequence + 50 }), 2)
    assert.deepEqual(twice, [
      ['log.log-restored', 1],
      ['log.log-restored', 2],
      ['order.created', 3],
    ])
  })

  it('gets no event again because a later one fails', async (t) => {
    const { caller } = await newScene(t, service)
    await restored(service)
    await createdId(caller)
    await sealAll(service.db)
    const sent: string[] = []
    const deliver = async (_webhook: Subscription, { kind }: { kind: string }) => {
      sent.push(kind)
      const failure = kind === 'created' ? 'down' : null
      return { at: service.now(), durationMilliseconds: 1, status: null, failure, answer: null }
    }
    const sender = newSender(service, { couriers: { webhook: { deliver } } })
    t.after(() => sender.stop())
    for (const count of [2, 3, 4]) {
      await sendUntil(sender, () => sent.length >= count)
      service.advance(3_600_000)
    }
    assert.deepEqual(sent, ['log-restored', 'created', 'created', 'created'])
  })

  it('that had come beyond the last line left waits for what came after that line', async (t) => {
    const { caller, id } = await newScene(t, service)
    await sealAll(service.db)
    const { era, sequence } = await endOfLog(service.db.read)
    await putPlace(service, id, { era, sequence: sequence + 50 })
    await restored(service)
    await createdId(caller)
    await sealAll(service.db)
    const told = (given: { sequence: number; waiting: number } | undefined) => [
      Number(given?.sequence) - sequence,
      given?.waiting,
    ]
    const { items } = (await caller.get('/v1/webhooks')).body
    const views = [
      (await caller.get(`/v1/webhooks/${id}`)).body,
      items.find((one: { id: string }) => one.id === id),
      (await reportOnOutbox(service.db.read)).find((one) => one.id === id),
    ]
    assert.deepEqual(views.map(told), Array(3).fill([0, 2]))
  })

  for (const isAskedNow of [false, true]) {
    const when = isAskedNow ? 'asks for everything again' : 'had asked for everything again'
    it(`that ${when} gets as a replay only what it may have had`, async (t) => {
      const { receiver, caller, id } = await newScene(t, service)
      await createdId(caller)
      await sealAll(service.db)
      const { era, sequence } = await endOfLog(service.db.read)
      const beyond = sequence + 50
      await putPlace(service, id, { era, sequence: isAskedNow ? beyond : 0, replayed_to: beyond })
      await restored(service)
      await createdId(caller)
      await sealAll(service.db)
      const stamp = machineStamp(service.now())
      if (isAskedNow) await service.db.write('replayWebhook', { id, from: 1, stamp })
      const end = await endOfLog(service.db.read)
      const known = await findSubscription(service.db.read, id, 'webhook')
      if (isAskedNow) assert.equal(known?.place.era, end.era)
      const sender = newSender(service)
      t.after(() => sender.stop())
      await sendUntil(sender, () => receiver.received.some((one) => one.sequence === end.sequence))
      const may = receiver.received.map((one) => Number(one.sequence) <= sequence)
      assert.ok(may.includes(true))
      assert.deepEqual(
        receiver.received.map(({ text }) => 'replay' in JSON.parse(text).data),
        may,
      )
    })
  }

  it('that has a place beyond the end of the same era goes on from the end', async (t) => {
    const { receiver, caller, id } = await newScene(t, service)
    await sealAll(service.db)
    const end = await endOfLog(service.db.read)
    await putPlace(service, id, { ...end, sequence: end.sequence + 50 })
    const [backlog] = (await reportOnOutbox(service.db.read)).filter((one) => one.id === id)
    assert.deepEqual([backlog?.waiting, backlog?.oldestAt], [0, undefined])
    const sender = newSender(service)
    t.after(() => sender.stop())
    await sendUntil(sender, async () => {
      const found = await findSubscription(service.db.read, id, 'webhook')
      return found?.place.sequence === end.sequence
    })
    await createdId(caller)
    await sealAll(service.db)
    await sendUntil(sender, () => receiver.received.length === 1)
    assert.equal(receiver.received[0]?.sequence, end.sequence + 1)
  })
})
