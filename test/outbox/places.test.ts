// engine: both
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { endOfLog } from '../../server/audit/audit.ts'
import { machineStamp } from '../../server/caller/stamp.ts'
import { newOrderedId } from '../../server/ids.ts'
import { replayOf, type Subscription } from '../../server/outbox/outbox.ts'
import { attemptsLimit, findAttempts, findSubscription, knownOf } from '../../server/outbox/store.ts'
import { addEvents } from '../support/log.ts'
import { testService } from '../support/service.ts'

const sent = { eventId: 'event', type: 'order.noted', sequence: 1 }
const attempt = { at: 5, durationMilliseconds: 1, status: 204, failure: null, answer: '' }

describe('the place of a subscription', () => {
  const service = testService()
  before(() => addEvents(service, 5))
  const stamp = () => machineStamp(service.now())
  const read = async (id: string) => {
    const found = await findSubscription(service.db.read, id, 'webhook')
    assert.ok(found)
    return found
  }
  const added = async (t: { after(hook: () => unknown): void }) => {
    const id = newOrderedId(service.now())
    const settings = { url: 'https://8.8.8.8/', events: ['order'], enabled: true }
    await service.db.write('addWebhook', { id, ...settings, stamp: stamp() })
    t.after(() => service.db.write('removeWebhook', { id, stamp: stamp() }).catch(() => undefined))
    await service.db.write('replayWebhook', { id, from: 1, stamp: stamp() })
    return read(id)
  }
  /** As the sender does once an event was delivered. */
  const deliver = (subscription: Subscription, sequence: number) => {
    const place = { era: subscription.place.era, sequence }
    const next = { kind: 'delivered', replayedTo: subscription.replayedTo, place } as const
    return service.db.write('recordAttempt', {
      subscription: knownOf(subscription),
      sent,
      attempt,
      next,
      stamp: stamp(),
    })
  }

  const fail = (subscription: Subscription) =>
    service.db.write('recordAttempt', {
      subscription: knownOf(subscription),
      sent,
      attempt: { ...attempt, status: 503, failure: 'down' },
      next: { kind: 'retry', failingSince: 5, at: service.now() + 1_000 },
      stamp: stamp(),
    })

  const ends: Record<string, (failing: Subscription) => Promise<unknown>> = {
    'a delivery': (failing) => deliver(failing, 1),
    'a replay': ({ id }) => service.db.write('replayWebhook', { id, from: 1, stamp: stamp() }),
    ...Object.fromEntries(
      [null, 'https://8.8.4.4/'].map((url) => [
        url === null ? 'the same settings once more' : 'another address',
        ({ id }: Subscription) => {
          const changes = { url, events: null, enabled: null }
          return service.db.write('changeWebhook', { id, acceptedVersions: null, changes, stamp: stamp() })
        },
      ]),
    ),
  }
  for (const [what, end] of Object.entries(ends)) {
    it(`after ${what}, the next failure is the first of another outage`, async (t) => {
      const failing = await fail(await added(t))
      assert.deepEqual([failing?.failures, failing?.failingSince], [1, 5])
      assert.ok(failing)
      await end(failing)
      const { failures, failingSince, nextAttemptAt } = await read(failing.id)
      assert.deepEqual([failures, failingSince, nextAttemptAt], [0, null, null])
    })
  }

  it('forgets the oldest attempts of one subscription, and none of others', async (t) => {
    const [one, other] = [await added(t), await added(t)]
    for (let count = 0; count <= attemptsLimit; count += 1) {
      await fail(other)
      if (count % 5 === 0) await fail(one)
    }
    const kept = [one, other].map(async ({ id }) => (await findAttempts(service.db.read, id)).length)
    assert.deepEqual(await Promise.all(kept), [Math.ceil((attemptsLimit + 1) / 5), attemptsLimit])
  })

  it('that was put back twice belongs to the newest replay up to where it ever was', async (t) => {
    const known = await added(t)
    assert.ok(await deliver(known, 1))
    await service.db.write('replayWebhook', { id: known.id, from: 1, stamp: stamp() })
    const again = await read(known.id)
    assert.deepEqual([again.place.sequence, again.replayedTo], [0, known.replayedTo])
    assert.equal(replayOf(again, { sequence: known.replayedTo }), 2)
  })

  it('moves once from where it was: a sender that comes late moves it no further and not back', async (t) => {
    const known = await added(t)
    const answers = await Promise.all([deliver(known, 1), deliver(known, 1), deliver(known, 1)])
    assert.equal(answers.filter((answer) => answer !== undefined).length, 1)
    const moved = await read(known.id)
    assert.equal(moved.place.sequence, 1)
    assert.ok(await deliver(moved, 2))
    assert.equal(await deliver(moved, 1), undefined)
    assert.equal(await deliver(known, 5), undefined)
    assert.equal((await read(known.id)).place.sequence, 2)
    assert.equal((await findAttempts(service.db.read, known.id)).length, 2)
  })

  it('stays where a person put it while an event was on its way', async (t) => {
    const known = await added(t)
    assert.ok(await deliver(known, 3))
    const stale = await read(known.id)
    await service.db.write('replayWebhook', { id: known.id, from: 1, stamp: stamp() })
    assert.equal(await deliver(stale, 4), undefined)
    assert.equal((await read(known.id)).place.sequence, 0)
  })

  it('stays while an event was on its way to another address, or to a webhook that is removed', async (t) => {
    const known = await added(t)
    const changes = { url: 'https://8.8.4.4/', events: null, enabled: null }
    const input = { id: known.id, acceptedVersions: null, changes, stamp: stamp() }
    await service.db.write('changeWebhook', input)
    assert.equal(await deliver(known, 1), undefined)
    const changed = await read(known.id)
    await service.db.write('removeWebhook', { id: known.id, stamp: stamp() })
    assert.equal(await deliver(changed, 1), undefined)
    assert.equal(await findSubscription(service.db.read, known.id, 'webhook'), undefined)
  })

  it('never lies beyond the end of the log after a replay', async (t) => {
    const { id } = await added(t)
    await service.db.write('replayWebhook', { id, from: 2_000_000_000, stamp: stamp() })
    const { place } = await read(id)
    assert.deepEqual(place, await endOfLog(service.db.read))
  })
})
