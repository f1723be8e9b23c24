// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PluginTransformQueryArgs, PluginTransformResultArgs } from '#kysely'
import { findAttempts, findSubscription } from '../../server/outbox/store.ts'
import type { Client } from '../support/client.ts'
import { atNext } from '../support/moments.ts'
import { createdId } from '../support/orders.ts'
import { testService } from '../support/service.ts'
import { newScene, newSender, sealAll, sendUntil, toReceivers } from '../support/webhooks.ts'

type Act = (caller: Client, webhook: { path: string; url: string }) => ReturnType<Client['post']>

/** Acts of a person on a webhook, and whether it still exists then. */
const deeds: Record<string, [act: Act, isThere: boolean]> = {
  'is removed': [(caller, { path }) => caller.send('DELETE', path), false],
  'is disabled': [(caller, { path }) => caller.patch(path, { enabled: false }), true],
  'gets another address': [(caller, { path, url }) => caller.patch(path, { url: `${url}/other` }), true],
  'gets another secret': [(caller, { path }) => caller.post(`${path}/secrets`, {}), true],
  'is to get everything again': [(caller, { path }) => caller.post(`${path}/replay`, { from: 1 }), true],
}

describe('a webhook that changes while a message is on its way', () => {
  const service = testService({ env: toReceivers })

  const find = (id: string) => findSubscription(service.db.read, id, 'webhook')
  const attempts = async (id: string) =>
    (await findAttempts(service.db.read, id)).map(({ type, failure }) => [type, failure])

  for (const [what, [act, isThere]] of Object.entries(deeds)) {
    it(`${what}: a trial is answered, and kept if the webhook is`, async (t) => {
      const { caller, id, path, receiver } = await newScene(t, service)
      atNext(t, service.db, ['write', 'recordPing'], async (record) => {
        const { status, text } = await act(caller, { path, url: receiver.url })
        assert.ok(status < 300, text)
        return record()
      })
      const { status, body } = await caller.post(`${path}/ping`)
      assert.deepEqual([status, body.status, body.failure], [200, 204, null])
      assert.deepEqual(await attempts(id), isThere ? [['ping', null]] : [])
    })

    it(`${what}: the attempt counts for nothing, and nothing fails`, async (t) => {
      const { receiver, caller, id, path } = await newScene(t, service)
      await createdId(caller)
      await sealAll(service.db)
      const warnings: unknown[] = []
      const log = { info: () => undefined, warn: (line: object) => void warnings.push(line) }
      const sender = newSender(service, { log })
      t.after(() => sender.stop())
      let after: Awaited<ReturnType<typeof find>>
      let kept: unknown[] | undefined
      atNext(t, service.db, ['write', 'recordAttempt'], async (record) => {
        await act(caller, { path, url: receiver.url })
        after = await find(id)
        const answer = await record()
        // The sender is still busy with it. Afterwards it may send again.
        kept = [receiver.received.length, await find(id), await attempts(id)]
        return answer
      })
      await sendUntil(sender, () => kept !== undefined)
      assert.deepEqual(kept, [1, after, []])
      assert.deepEqual(warnings, [])
    })
  }
})

describe('a look that is slower than the attempt before it', () => {
  const service = testService({ env: toReceivers })

  it('does not send what that attempt has put off', async (t) => {
    const { caller, id } = await newScene(t, service)
    await createdId(caller)
    await sealAll(service.db)
    const answered = Promise.withResolvers<void>()
    let attempts = 0
    const deliver = async () => {
      attempts += 1
      await answered.promise
      return { at: service.now(), durationMilliseconds: 1, status: 503, failure: 'down', answer: '' }
    }
    const slow = {
      transformQuery: ({ node }: PluginTransformQueryArgs) => node,
      transformResult: async ({ result }: PluginTransformResultArgs) => result,
    }
    const db = { ...service.db, read: service.db.read.withPlugin(slow) }
    const sender = newSender(service, { db, couriers: { webhook: { deliver } } })
    t.after(() => sender.stop())
    const failures = async () => (await findSubscription(service.db.read, id, 'webhook'))?.failures
    await sendUntil(sender, () => attempts === 1)
    const { transformResult } = slow
    slow.transformResult = async (args) => {
      if (!args.result.rows.some((row) => row.next_attempt_at === null)) return args.result
      slow.transformResult = transformResult
      answered.resolve()
      while ((await failures()) !== 1) await nextTurn()
      // The attempt is over, and the sender no longer busy with it.
      for (let turn = 0; turn < 20; turn += 1) await nextTurn()
      return args.result
    }
    await sender.look()
    assert.equal(slow.transformResult, transformResult)
    // Another attempt by that look would have begun by now.
    for (let turn = 0; turn < 20; turn += 1) await failures().then(() => nextTurn())
    assert.equal(attempts, 1)
    service.advance(5_000)
    await sendUntil(sender, async () => (await failures()) === 2)
  })
})

describe('an instance that stops while a message is on its way', () => {
  const service = testService({ env: toReceivers })

  it('keeps no attempt, and the next one sends the event again', async (t) => {
    const { receiver, caller, id } = await newScene(t, service)
    await createdId(caller)
    await sealAll(service.db)
    const delivered = Promise.withResolvers<void>()
    const report = { at: service.now(), durationMilliseconds: 1, status: 204, failure: null, answer: '' }
    let isHeld: boolean | undefined
    const deliver = async (_subscription: unknown, _event: unknown, signal: AbortSignal) => {
      signal.addEventListener('abort', () => {
        isHeld = !written().includes('endLease')
      })
      await first.stop()
      delivered.resolve()
      return report
    }
    const first = newSender(service, { couriers: { webhook: { deliver } } })
    // The type of `write` with all its inputs is too large for a mock.
    const db = service.db as { write(...given: unknown[]): Promise<unknown> }
    const writes = t.mock.method(db, 'write')
    const written = () => writes.mock.calls.map(({ arguments: [name] }) => `${name}`)
    await first.look()
    await delivered.promise
    await nextTurn()
    const names = written()
    assert.ok(names.length > 0 && !names.includes('recordAttempt'), names.join())
    // Nobody else could send while the attempt was under way.
    assert.equal(isHeld, true)
    const second = newSender(service)
    t.after(() => second.stop())
    await sendUntil(second, () => receiver.received.length > 0)
    await sendUntil(second, async () => (await findAttempts(service.db.read, id)).length === 1)
    assert.equal(receiver.received.length, 1)
  })

  for (const [what, isSender] of [
    ['asks to be the sender', false],
    ['asks to remain the sender', true],
  ] as const) {
    it(`while it ${what}: another may send at once`, async (t) => {
      const { receiver, caller } = await newScene(t, service)
      await createdId(caller)
      await sealAll(service.db)
      let now = 0
      const sender = newSender(service, { monotonic: () => now })
      if (isSender) {
        await sendUntil(sender, () => receiver.received.length === 1)
        // It may still be about to read on. It may send no more by the lease that it has.
        now = 20_000
      }
      let stopped: Promise<void> | undefined
      atNext(t, service.db, ['write', 'holdLease'], async (hold) => {
        await nextTurn()
        stopped = sender.stop()
        for (let turn = 0; turn < 20; turn += 1) await nextTurn()
        return hold()
      })
      if (isSender) {
        await createdId(caller)
        await sealAll(service.db)
      }
      await sendUntil(sender, () => stopped !== undefined)
      await stopped
      // A look may still have been under way.
      await sender.look()
      const lease = { name: 'outbox', term: null, milliseconds: 20_000 }
      const term = (await service.db.write('holdLease', lease)) ?? assert.fail('no other may')
      await service.db.write('endLease', { name: 'outbox', term })
    })
  }
})

describe('a lease that was asked for long ago', () => {
  const service = testService({ env: toReceivers })

  it('is extended before anything is sent', async (t) => {
    const { receiver, caller } = await newScene(t, service)
    await createdId(caller)
    await sealAll(service.db)
    let now = 0
    const sender = newSender(service, { monotonic: () => now })
    t.after(() => sender.stop())
    atNext(t, service.db, ['write', 'holdLease'], async (hold) => {
      const term = await hold()
      now = 7_000
      atNext(t, service.db, ['write', 'holdLease'], async (extend) => {
        assert.equal(receiver.received.length, 0)
        return extend()
      })
      return term
    })
    await sendUntil(sender, () => receiver.received.length > 0)
  })
})
