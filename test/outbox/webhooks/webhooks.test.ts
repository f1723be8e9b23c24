// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { endOfLog } from '../../../server/audit/audit.ts'
import { machineStamp } from '../../../server/caller/stamp.ts'
import { webhooksLimit } from '../../../server/outbox/webhooks/webhooks.ts'
import { bearerOf, newActor, newUser } from '../../support/accounts.ts'
import { newAdministrator } from '../../support/administration.ts'
import type { Client } from '../../support/client.ts'
import { storedEvents } from '../../support/kept-log.ts'
import { createdId } from '../../support/orders.ts'
import { assertProblem } from '../../support/problem.ts'
import { startService, testService } from '../../support/service.ts'
import {
  newScene,
  newSender,
  sealAll,
  sendUntil,
  startReceiver,
  toReceivers,
} from '../../support/webhooks.ts'

const url = 'https://8.8.8.8/hook'
const unknown = '/v1/webhooks/019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57'

describe('/v1/webhooks', () => {
  const service = testService({ env: toReceivers })
  const newCaller = async () => (await newAdministrator(service)).caller
  const eventsOf = async (id: string) =>
    (await storedEvents(service.db.read, id)).map(({ kind, data }) => ({ kind, data: JSON.parse(data) }))

  /** A disabled webhook, to which nothing is sent. */
  async function kept(caller: Client, t: { after(hook: () => unknown): void }, given = {}) {
    const { status, body, headers } = await caller.post('/v1/webhooks', {
      url,
      events: ['order'],
      enabled: false,
      ...given,
    })
    assert.equal(status, 201)
    t.after(() => remove(body.id))
    return { ...body, path: headers.get('location') ?? '' }
  }
  const remove = (id: string) =>
    service.db.write('removeWebhook', { id, stamp: machineStamp(service.now()) }).catch(() => undefined)

  describe('addWebhook', () => {
    it('answers with the id, the secret and the public key, and stores no secret', async (t) => {
      const caller = await newCaller()
      await sealAll(service.db)
      const end = await endOfLog(service.db.read)
      const answer = await caller.post('/v1/webhooks', { url, events: ['order', 'account.enabled'] })
      const { id, secret, publicKeys } = answer.body
      t.after(() => remove(id))
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
      assert.equal(publicKeys.length, 1)
      assert.match(publicKeys[0], /^whpk_[A-Za-z0-9+/]{43}=$/)
      assert.deepEqual(
        ['location', 'etag', 'cache-control'].map((name) => answer.headers.get(name)),
        [`/v1/webhooks/${id}`, '"1"', 'no-store'],
      )
      const { body } = await caller.get(`/v1/webhooks/${id}`)
      assert.partialDeepStrictEqual(body, {
        ...{ id, url, events: ['order', 'account.enabled'], enabled: true, publicKeys },
        ...{ disabledBecause: null, failures: 0, failingSinceUtc: null, nextAttemptAtUtc: null },
        ...{ previousSecretUntilUtc: null, sequence: end.sequence, waiting: 0 },
      })
      const rows = await service.db.read.selectFrom('subscriptions').selectAll().execute()
      assert.ok(!JSON.stringify(rows).includes(secret.slice(6, 30)))
      const data = { origin: 'https://8.8.8.8', events: ['order', 'account.enabled'], enabled: true }
      assert.deepEqual(await eventsOf(id), [{ kind: 'webhook-added', data }])
    })

    it('refuses kinds that do not exist, none, and a kind twice', async () => {
      const caller = await newCaller()
      for (const [events, code] of [
        [['orders'], 'enum'],
        [['order.gone'], 'enum'],
        [['created'], 'enum'],
        [[], 'length'],
        ['order', 'type'],
        [['order', 'order'], 'repeated'],
      ]) {
        const answer = await caller.post('/v1/webhooks', { url, events })
        assertProblem(answer, 400, 'validation-failed')
        assert.equal(answer.body.errors[0].code, code, String(events))
      }
      const misspelt = await caller.post('/v1/webhooks', { url, events: ['order'], enabld: false })
      assertProblem(misspelt, 400, 'validation-failed')
    })

    it('needs a recent sign-in, and is for people alone', async () => {
      const user = await newUser(service, { roles: ['Admin'] })
      const caller = await bearerOf(service, user)
      service.advance(301_000)
      assertProblem(
        await caller.post('/v1/webhooks', { url, events: ['order'] }),
        403,
        'recent-sign-in-needed',
      )
      const robot = await service.bearer('demo-service')
      assertProblem(await robot.get('/v1/webhooks'), 403, 'permission-denied')
    })

    it('refuses more than fifty', async (t) => {
      const caller = await newCaller()
      const { totalCount } = (await caller.get('/v1/webhooks')).body
      for (let count = totalCount; count < webhooksLimit; count += 1) await kept(caller, t)
      assertProblem(await caller.post('/v1/webhooks', { url, events: ['order'] }), 409, 'too-many-webhooks')
    })
  })

  it('are listed in pages in the order of their creation', async (t) => {
    const caller = await newCaller()
    const before = (await caller.get('/v1/webhooks?pageSize=100')).body.totalCount
    const ids = [await kept(caller, t), await kept(caller, t)].map(({ id }) => id)
    const { body, headers } = await caller.get(`/v1/webhooks?pageSize=1&pageNumber=${before + 2}`)
    assert.deepEqual(
      [body.items[0].id, body.totalCount, body.totalPages, body.hasNextPage],
      [ids[1], before + 2, before + 2, false],
    )
    assert.match(headers.get('link') ?? '', /rel="prev"/)
    const all = (await caller.get('/v1/webhooks?pageSize=100')).body.items.map(({ id }: { id: string }) => id)
    assert.deepEqual(all.slice(-2), ids)
  })

  it('are answered in full whatever tag the caller has, because an attempt does not change it', async (t) => {
    const caller = await newCaller()
    const { path } = await kept(caller, t)
    const { headers } = await caller.get(path)
    const again = await caller.get(path, { 'if-none-match': headers.get('etag') ?? '' })
    assert.equal(again.status, 200)
    assert.equal(again.headers.get('cache-control'), 'no-store')
  })

  it('answer 404 for an unknown or malformed id', async () => {
    const caller = await newCaller()
    for (const path of [unknown, '/v1/webhooks/none']) {
      for (const [method, more, body] of [
        ['GET', ''],
        ['PATCH', '', { enabled: true }],
        ['DELETE', ''],
        ['POST', '/secrets'],
        ['GET', '/deliveries'],
        ['POST', '/replay', { from: 1 }],
        ['POST', '/ping'],
      ] as const) {
        const answer = await caller.send(method, path + more, body)
        assertProblem(answer, 404, 'webhook-not-found')
      }
    }
  })

  describe('changeWebhook', () => {
    it('changes what is sent, and leaves one event', async (t) => {
      const caller = await newCaller()
      const { id, path } = await kept(caller, t)
      const answer = await caller.patch(path, { url: 'https://8.8.4.4/other?x=1', events: ['role'] })
      assert.deepEqual([answer.status, answer.headers.get('etag')], [204, '"2"'])
      const { body } = await caller.get(path)
      assert.deepEqual([body.url, body.events, body.enabled], ['https://8.8.4.4/other?x=1', ['role'], false])
      assert.deepEqual((await eventsOf(id)).at(-1), {
        kind: 'webhook-changed',
        data: { origin: 'https://8.8.4.4', events: ['role'], enabled: false },
      })
    })

    it('changes nothing and leaves no event if everything is as it was', async (t) => {
      const caller = await newCaller()
      const { id, path } = await kept(caller, t)
      const answer = await caller.patch(path, { url, events: ['order'], enabled: false })
      assert.deepEqual([answer.status, answer.headers.get('etag')], [204, '"1"'])
      assert.equal((await eventsOf(id)).length, 1)
    })

    it('conflicts with an earlier change', async (t) => {
      const caller = await newCaller()
      const { path } = await kept(caller, t)
      const change = (events: string[]) => caller.patch(path, { events }, { 'if-match': '"1"' })
      const answers = await Promise.all([change(['role']), change(['account']), change(['log'])])
      assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 412, 412])
    })

    it('tries again at once what failed, and continues where a disabled one was', async (t) => {
      const { receiver, caller, path } = await newScene(t, service)
      receiver.answer = (_message, response) => response.writeHead(410).end()
      await createdId(caller)
      await createdId(caller)
      await sealAll(service.db)
      const sender = newSender(service)
      t.after(() => sender.stop())
      await sendUntil(sender, async () => !(await caller.get(path)).body.enabled)
      assert.equal((await caller.get(path)).body.disabledBecause, 'gone')
      assert.equal(receiver.received.length, 1)
      receiver.answer = (_message, response) => response.writeHead(500).end()
      assert.equal((await caller.patch(path, { enabled: true })).status, 204)
      await sendUntil(sender, async () => (await caller.get(path)).body.failures === 1)
      receiver.answer = (_message, response) => response.writeHead(204).end()
      assert.equal((await caller.patch(path, { enabled: true })).status, 204)
      await sendUntil(sender, () => receiver.received.length === 4)
      const [gone, failed, ...sent] = receiver.received.map(({ sequence }) => sequence ?? 0)
      assert.deepEqual([gone, failed], [sent[0], sent[0]])
      assert.ok(Number(sent[0]) < Number(sent[1]))
      await caller.patch(path, { enabled: false })
      assert.equal((await caller.get(path)).body.disabledBecause, null)
    })
  })

  it('are removed with their deliveries, and leave an event', async (t) => {
    const caller = await newCaller()
    const { id, path } = await kept(caller, t)
    assert.equal((await caller.send('DELETE', path)).status, 204)
    assertProblem(await caller.get(path), 404, 'webhook-not-found')
    assert.deepEqual((await eventsOf(id)).at(-1), {
      kind: 'webhook-removed',
      data: { origin: 'https://8.8.8.8' },
    })
  })

  describe('rotateWebhookSecret', () => {
    it('answers with another secret, and both sign for a day', async (t) => {
      const caller = await newCaller()
      const { path, secret, publicKeys } = await kept(caller, t)
      const answer = await caller.post(`${path}/secrets`)
      assert.deepEqual([answer.status, answer.headers.get('cache-control')], [201, 'no-store'])
      assert.notEqual(answer.body.secret, secret)
      assert.equal(answer.body.publicKeys[1], publicKeys[0])
      const during = (await caller.get(path)).body
      assert.equal(Date.parse(during.previousSecretUntilUtc), service.now() + 86_400_000)
      assert.deepEqual(during.publicKeys, answer.body.publicKeys)
      service.advance(86_400_000)
      const after = (await (await newCaller()).get(path)).body
      assert.deepEqual([after.previousSecretUntilUtc, after.publicKeys.length], [null, 1])
    })

    it('ends the previous secret at once on request', async (t) => {
      const caller = await newCaller()
      const { path } = await kept(caller, t)
      const { body } = await caller.post(`${path}/secrets`, { dropOld: true })
      assert.equal(body.publicKeys.length, 1)
      assert.deepEqual((await caller.get(path)).body.publicKeys, body.publicKeys)
    })
  })

  describe('pingWebhook', () => {
    it('sends a trial to a disabled webhook too, and answers with the attempt', async (t) => {
      const receiver = await startReceiver(t)
      receiver.answer = (_message, response) => response.writeHead(202).end('<b>Taken</b>\u0007\u202e')
      const caller = await newCaller()
      const { path } = await kept(caller, t, { url: receiver.url })
      const { status, body } = await caller.post(`${path}/ping`)
      assert.equal(status, 200)
      assert.partialDeepStrictEqual(body, {
        ...{ type: 'ping', sequence: null, status: 202, failure: null, answer: '<b>Taken</b>' },
        eventId: receiver.received[0]?.headers['webhook-id'],
      })
      const listed = (await caller.get(`${path}/deliveries`)).body
      assert.deepEqual(listed.items, [body])
    })

    it('takes no status below 200 for success', async (t) => {
      const receiver = await startReceiver(t)
      receiver.answer = (_message, response) =>
        response.socket?.end('HTTP/1.1 099 x\r\ncontent-length: 0\r\n\r\n')
      const caller = await newCaller()
      const { path } = await kept(caller, t, { url: receiver.url })
      const { body } = await caller.post(`${path}/ping`)
      assert.deepEqual([body.status, body.failure], [99, 'it answered 99'])
    })

    it('answers with the reason if there is no answer', async (t) => {
      const caller = await newCaller()
      const { path } = await kept(caller, t, { url: 'http://127.0.0.1:9/' })
      const { body } = await caller.post(`${path}/ping`)
      assert.deepEqual(
        [body.status, body.failure, body.answer],
        [null, 'it refused the connection (ECONNREFUSED)', null],
      )
    })

    it('sends one trial at a time: requests that arrive meanwhile share it', async (t) => {
      const receiver = await startReceiver(t)
      const caller = await newCaller()
      const { path } = await kept(caller, t, { url: receiver.url })
      // The second may come after the first has its answer.
      for (let tries = 0, areSame = false; !areSame; tries += 1) {
        assert.ok(tries < 100)
        const pings = await Promise.all([caller.post(`${path}/ping`), caller.post(`${path}/ping`)])
        const [first, second] = pings.map(({ body }) => body.eventId)
        areSame = first === second
      }
    })

    it('gives two webhooks with one address separate trials', async (t) => {
      const receiver = await startReceiver(t)
      const caller = await newCaller()
      const { url: address } = receiver
      const [one, other] = [await kept(caller, t, { url: address }), await kept(caller, t, { url: address })]
      const pings = await Promise.all([one, other].map(({ path }) => caller.post(`${path}/ping`)))
      for (const [index, { path }] of [one, other].entries()) {
        const { eventId } = pings[index]?.body ?? {}
        const listed = (await caller.get(`${path}/deliveries`)).body.items
        assert.deepEqual(
          listed.map((each: { eventId: string }) => each.eventId),
          [eventId],
        )
        const sent = receiver.received.find(({ headers }) => headers['webhook-id'] === eventId)
        assert.ok(path.endsWith(JSON.parse(sent?.text ?? '{}').data?.id))
      }
    })
  })

  describe('listWebhookDeliveries', () => {
    it('answers the last fifty, the newest first, with 200 characters of each answer', async (t) => {
      const receiver = await startReceiver(t)
      receiver.answer = (_message, response) => response.writeHead(200).end('é'.repeat(1_000))
      const caller = await newCaller()
      const { path } = await kept(caller, t, { url: receiver.url })
      for (let count = 0; count < 53; count += 1) await caller.post(`${path}/ping`)
      const { body } = await caller.get(`${path}/deliveries?pageSize=100`)
      assert.equal(body.totalCount, 50)
      const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
      assert.deepEqual(
        body.items.map(({ eventId }: { eventId: string }) => eventId),
        ids.slice(3).toReversed(),
      )
      assert.equal(body.items[0].answer, 'é'.repeat(200))
    })
  })

  describe('replayWebhook', () => {
    it('sends everything again from a sequence, as a replay with separate ids', async (t) => {
      const { receiver, caller, id, path } = await newScene(t, service)
      for (let count = 0; count < 3; count += 1) await createdId(caller)
      await sealAll(service.db)
      const sender = newSender(service)
      t.after(() => sender.stop())
      // A replay that comes before an attempt is kept has it made again.
      const attempts = async () => (await caller.get(`${path}/deliveries`)).body.totalCount
      await sendUntil(sender, async () => (await attempts()) === 3)
      const from = receiver.received[1]?.sequence
      assert.equal((await caller.post(`${path}/replay`, { from })).status, 204)
      await sendUntil(sender, async () => (await attempts()) === 5)
      assert.equal((await caller.post(`${path}/replay`, { from: Number(from) + 1 })).status, 204)
      await createdId(caller)
      await sealAll(service.db)
      await sendUntil(sender, () => receiver.received.length === 7)
      const sent = receiver.received.map(({ headers, sequence, text }) => {
        const { data } = JSON.parse(text)
        return [headers['webhook-id'], sequence, 'replay' in data ? data.replay : 'first']
      })
      const [, second, third] = sent
      const again = (message: unknown[] | undefined, replay: number) => [
        `${message?.[0]}_${replay}`,
        message?.[1],
        replay,
      ]
      assert.deepEqual(sent.slice(3, 6), [again(second, 1), again(third, 1), again(third, 2)])
      assert.deepEqual(
        sent.map(([, , replay]) => replay),
        ['first', 'first', 'first', 1, 1, 2, 'first'],
      )
      const { body } = await caller.get(`${path}/deliveries`)
      const ids = body.items.map(({ eventId }: { eventId: string }) => eventId)
      // The last attempt may not be kept yet.
      assert.deepEqual(
        ids.toReversed().slice(0, 6),
        sent.slice(0, 6).map(([sentId]) => sentId),
      )
      const [event] = (await eventsOf(id)).slice(-1)
      assert.deepEqual([event?.kind, event?.data.from], ['webhook-replayed', Number(from) + 1])
    })

    it('refuses what is no sequence', async (t) => {
      const caller = await newCaller()
      const { path } = await kept(caller, t)
      for (const from of [0, -1, 1.5, 'x', undefined]) {
        assertProblem(await caller.post(`${path}/replay`, { from }), 400, 'validation-failed')
      }
    })
  })

  it('are changed by nobody who lost the permission while the request was on its way', async (t) => {
    const { id } = await kept(await newCaller(), t)
    const actor = await newActor(service.db)
    const account = { kind: 'user', name: actor.by } as const
    await service.db.write('revokeRoles', { account, roles: ['Admin'], stamp: machineStamp(1) })
    const { credentials_changed_at: credentialsChangedAt } = await service.db.read
      .selectFrom('principals')
      .select('credentials_changed_at')
      .where('id', '=', actor.byId)
      .executeTakeFirstOrThrow()
    const { isService: _, ...made } = actor
    const stamp = { ...made, standing: { via: 'bearer', credentialsChangedAt } } as const
    const before = await storedEvents(service.db.read)
    const { db } = service
    const changes = { url: null, events: ['role'], enabled: null }
    for (const refused of [
      () => db.write('addWebhook', { id: actor.eventId, url, events: ['order'], enabled: true, stamp }),
      () => db.write('changeWebhook', { id, changes, acceptedVersions: null, stamp }),
      () => db.write('rotateWebhookSecret', { id, previousUntil: null, stamp }),
      () => db.write('replayWebhook', { id, from: 1, stamp }),
      () => db.write('removeWebhook', { id, stamp }),
    ]) {
      await assert.rejects(refused, { code: 'permission-denied' })
    }
    assert.equal((await storedEvents(service.db.read)).length, before.length)
  })

  it('without WEBHOOK_KEY_FILE, none can be added', async (t) => {
    const without = await startService({ inside: true, env: { WEBHOOK_KEY_FILE: '' }, until: t })
    const { caller } = await newAdministrator(without)
    assertProblem(await caller.post('/v1/webhooks', { url, events: ['order'] }), 409, 'webhook-key-missing')
    assert.equal((await caller.get('/v1/webhooks')).body.totalCount, 0)
  })
})
