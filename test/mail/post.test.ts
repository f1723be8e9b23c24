// engine: both
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Post, startPost } from '../../server/mail/post.ts'
import { hasDueDigest, nextDigest, queueDigests } from '../../server/mail/settings.ts'
import {
  claimMail,
  countSent,
  countWaiting,
  dropMail,
  dueMails,
  findGathering,
  insertMail,
  isQueued,
  noteSentMail,
  takeRecipients,
} from '../../server/mail/store.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { newUser, unknownEmail } from '../support/accounts.ts'
import { withRawDatabase } from '../support/database.ts'
import { type MailServer, mailSettings, postOf, startMailServer } from '../support/mail.ts'
import { atNext } from '../support/moments.ts'
import { testService } from '../support/service.ts'
import { until } from '../support/stream.ts'

const minute = 60_000

describe('the post', () => {
  const service = testService({ env: mailSettings })
  let server: MailServer
  let post: ReturnType<typeof postOf>
  before(async () => {
    server = await startMailServer()
  })
  after(() => server.close())
  beforeEach(async () => {
    server.refusal = 0
    await withRawDatabase(service.databaseUrl, (trx) => trx.deleteFrom('mails').execute())
    post = postOf(service, server)
  })
  const ask = async () => {
    const { email } = await newUser(service)
    assert.equal((await service.client().post('/v1/auth/links', { email })).status, 204)
    return email
  }
  const sentTo = () => server.received().flatMap(({ to }) => to)
  const rows = () => service.db.read.selectFrom('mails').selectAll().orderBy('id').execute()
  const events = () => post.said().map(({ event }) => event)

  it('keeps what a server refuses, tries again with growing pauses for a day, and then gives up', async () => {
    server.refusal = 550
    await ask()
    const began = service.now()
    const pauses: number[] = []
    const attempts: unknown[] = []
    for (let [row] = await rows(); row !== undefined; [row] = await rows()) {
      service.advance(row.due_at - service.now())
      pauses.push(row.due_at)
      await post.sendAll()
      attempts.push(...events())
    }
    const minutes = pauses.slice(1).map((at, index) => (at - (pauses[index] ?? 0)) / minute)
    assert.deepEqual(minutes, [1, 4, 15, 40, 120, 240, 420, 600])
    assert.deepEqual(attempts, [...Array(8).fill('mail-refused'), 'mail-dropped'])
    assert.equal(service.now() - began, 24 * 60 * minute)
    assert.deepEqual(server.received(), [])
  })

  it('sends the rest if one mail is refused', async () => {
    const [first, second] = [await ask(), await ask()]
    const { smtp } = post.post.parts
    const send = smtp.send.bind(smtp)
    smtp.send = (letter) => {
      server.refusal = letter.email === first ? 550 : 0
      return send(letter)
    }
    await post.sendAll()
    assert.deepEqual(sentTo(), [second])
    assert.deepEqual(events().sort(), ['mail-refused', 'mail-sent'])
    service.advance(minute)
    server.refusal = 0
    smtp.send = send
    await post.sendAll()
    assert.deepEqual(sentTo(), [first])
  })

  it('waits for a server that is away, and says so once', async () => {
    const away = await startMailServer()
    await away.close()
    const emails = [await ask(), await ask()]
    const waiting = postOf(service, away)
    await waiting.queueAll()
    for (let look = 0; look < 5; look += 1) {
      assert.equal(await waiting.post.sendNext(), false)
      service.advance(minute)
    }
    const said = waiting.said()
    assert.deepEqual(
      said.map(({ event, host, failure }) => [event, host, failure]),
      [['mail-server', '127.0.0.1', 'it refused the connection (ECONNREFUSED)']],
    )
    const { smtp } = postOf(service, server).post.parts
    Object.assign(waiting.post.parts, { smtp })
    service.advance(60 * minute)
    await waiting.sendAll()
    assert.deepEqual(sentTo().sort(), emails.sort())
    assert.deepEqual(
      waiting.said().map(({ msg }) => msg),
      ['mail sent', 'the mail server takes mail again', 'mail sent'],
    )
  })

  it('notes a mail that is on its way as sent before it has stopped', async (t) => {
    await ask()
    const stopped = Promise.withResolvers<void>()
    atNext(t, post.post.parts.smtp, ['send'], async (send) => {
      stopped.resolve(stop())
      await send()
    })
    const stop = startPost(post.post)
    await stopped.promise
    const sent = (await rows()).map(({ sent_at: at }) => at !== null)
    assert.deepEqual([sent, server.received().length], [[true], 1])
  })

  it('sends each mail once, on any number of instances', async () => {
    const emails: string[] = []
    for (let asked = 0; asked < 20; asked += 1) emails.push(await ask())
    const db = await openAppDatabase({ databaseUrl: service.databaseUrl })
    const other = postOf({ db, now: service.now }, server)
    await Promise.all([post.sendAll(), other.sendAll()])
    await db.close()
    assert.deepEqual(sentTo().sort(), emails.sort())
    assert.ok((await rows()).every(({ attempts, sent_at }) => attempts === 1 && sent_at !== null))
  })

  it('sends a mail again if the process died before it was noted, but not at once', async (t) => {
    const email = await ask()
    const { smtp } = post.post.parts
    t.mock.method(smtp, 'send', () => new Promise(() => undefined))
    await post.queueAll()
    const dying = post.post.sendNext()
    await until(async () => (await rows())[0]?.attempts === 1)
    assert.equal(await Promise.race([dying, post.post.sendNext()]), false)
    service.advance(minute)
    await postOf(service, server).sendAll()
    assert.deepEqual(sentTo(), [email])
  })

  it('lets the kinds take turns, those that are listed first before others', async () => {
    const queue = async (kind: string, count: number) => {
      await withRawDatabase(service.databaseUrl, (trx) =>
        trx
          .insertInto('mails')
          .values(
            Array.from({ length: count }, (_, index) => ({
              ...{ kind, recipient: `${index}`, about: '' },
              ...{ queued_at: 0, due_at: 0, attempts: 0 },
            })),
          )
          .execute(),
      )
      await nextTurn()
    }
    const sent: string[] = []
    const kinds = ['security', 'password', 'news'].map((name) => ({
      name,
      async write() {
        sent.push(name)
        return undefined
      },
    }))
    const turns = new Post({ ...post.post.parts, kinds })
    await queue('news', 4)
    await queue('password', 3)
    for (const _ of [1, 2, 3]) await turns.sendNext()
    await queue('security', 2)
    while (await turns.sendNext());
    assert.deepEqual(sent.join(' '), 'password news password security news security password news news')
  })

  it('forgets the addresses that no account has many at a time', async () => {
    const asked = Array.from({ length: 3_000 }, unknownEmail)
    for (const email of asked) {
      await service.db.write('requestLink', { email, nowMilliseconds: service.now() })
    }
    const known = await ask()
    let writes = 0
    while (await post.post.queueNext()) writes += 1
    assert.equal(writes, 6)
    await post.sendAll()
    assert.deepEqual(sentTo(), [known])
    assert.deepEqual(
      (await rows()).filter(({ sent_at }) => sent_at === null),
      [],
    )
  })

  it('sorts requests while a mail server keeps another mail waiting', async (t) => {
    await ask()
    await post.queueAll()
    const { promise, resolve } = Promise.withResolvers<void>()
    t.mock.method(post.post.parts.smtp, 'send', () => promise)
    const stop = startPost(post.post)
    await until(async () => (await rows())[0]?.attempts === 1)
    await ask()
    await until(async () => (await rows()).filter(({ kind }) => kind === 'forgotten-password').length === 2)
    resolve()
    stop()
  })

  it('leaves mail of an unknown kind to a newer version', async () => {
    const row = { kind: 'newer', recipient: unknownEmail(), about: '', queued_at: 0, due_at: 0, attempts: 0 }
    await withRawDatabase(service.databaseUrl, (trx) => trx.insertInto('mails').values(row).execute())
    await nextTurn()
    await post.sendAll()
    assert.deepEqual(
      (await rows()).map(({ attempts }) => attempts),
      [0],
    )
  })

  it('asks about and changes no mail but the one that is meant', async () => {
    const now = service.now()
    const [{ id: principalId }, { id: other }] = [await newUser(service), await newUser(service)]
    const row = { about: '', queued_at: now, due_at: now, attempts: 0, principal_id: null, sent_at: null }
    const sent = { principal_id: principalId, sent_at: now }
    const [kind, gatherMilliseconds] = ['a', 60 * minute]
    await withRawDatabase(service.databaseUrl, async (trx) => {
      const added = [
        { ...row, kind, recipient: 'x' },
        { ...row, kind, recipient: 'y', due_at: now - 1 },
        { ...row, kind, recipient: 'tried', attempts: 1 },
        { ...row, kind: 'b', recipient: 'x', attempts: 2 },
        { ...row, kind, recipient: 'x', ...sent },
        { ...row, kind, recipient: 'y', ...sent, sent_at: now - 60 * minute },
        { ...row, kind, recipient: 'x', ...sent, principal_id: other },
        { ...row, kind: 'b', recipient: 'x', ...sent },
        { ...row, kind: 'c', recipient: 'z', ...sent },
      ]
      await trx.insertInto('mails').values(added).execute()
      const all = () => trx.selectFrom('mails').selectAll().orderBy('id').execute()
      const ids = (await all()).map(({ id }) => id)
      const [x = 0, y = 0, tried = 0, , sentX = 0] = ids
      // A raw connection gives PostgreSQL's counts as text.
      assert.equal(Number(await countSent(trx, { kind, principalId, nowMilliseconds: now })), 1)
      assert.equal(Number(await countWaiting(trx, { kind, recipient: 'x' })), 1)
      assert.deepEqual([await isQueued(trx, 'b'), await isQueued(trx, 'c')], [true, false])
      assert.deepEqual((await findGathering(trx, kind)).sort(), ['x', 'y'])
      const claim = (id: number, attempts: number) => claimMail(trx, { id, attempts, nowMilliseconds: now })
      assert.deepEqual([await claim(x, 1), await claim(sentX, 0), await claim(x, 0)], [false, false, true])
      for (const mail of [
        { kind, recipient: 'tried' },
        { kind: 'b', recipient: 'x' },
      ]) {
        await insertMail(trx, { ...mail, nowMilliseconds: now, gatherMilliseconds })
      }
      await dropMail(trx, { id: x, attempts: 0 })
      await dropMail(trx, { id: tried, attempts: 0 })
      await noteSentMail(trx, { id: y, attempts: 0, principalId, nowMilliseconds: now, readTo: 1 })
      const left = (await all()).map(({ id, attempts, sent_at }) => [
        ids.indexOf(id),
        attempts,
        sent_at === null,
      ])
      const ofSent = [4, 5, 6, 7, 8].map((place) => [place, 0, false])
      assert.deepEqual(left, [[0, 1, true], [1, 0, false], [3, 0, true], ...ofSent])
      await insertMail(trx, { kind, recipient: 'w', nowMilliseconds: now })
      assert.deepEqual(await takeRecipients(trx, { kind, limit: 1 }), ['w'])
      assert.equal((await all()).length, left.length)
    })
  })

  it('adds news to a mail that could not be sent for a day, and then begins another', async () => {
    const [kind, recipient, gatherMilliseconds] = ['unsent', 'x', 30_000]
    const [began, day] = [service.now(), 24 * 60 * minute]
    await withRawDatabase(service.databaseUrl, async (trx) => {
      const counts: number[] = []
      for (const later of [0, day - 1, day]) {
        const mail = {
          kind,
          recipient,
          about: `${later}`,
          nowMilliseconds: began + later,
          gatherMilliseconds,
        }
        await insertMail(trx, mail)
        counts.push(Number(await countWaiting(trx, { kind, recipient })))
      }
      assert.deepEqual(counts, [1, 1, 2])
    })
  })

  it('does not wait for a time that only a clock that was ahead could plan', async () => {
    const now = service.now()
    const { id: principal_id } = await newUser(service)
    const far = now + 10 * 60 * minute + minute
    await withRawDatabase(service.databaseUrl, async (trx) => {
      const row = { kind: 'ahead', recipient: 'x', about: '', queued_at: now, attempts: 1 }
      await trx
        .insertInto('mails')
        .values({ ...row, due_at: far, principal_id: null, sent_at: null })
        .execute()
      const due = async (at: number) => (await dueMails(trx, ['ahead'], at)).length
      assert.deepEqual([await due(now), await due(now - 1), await due(far)], [0, 1, 1])
    })
    await withRawDatabase(service.databaseUrl, async (trx) => {
      const next_digest_at = now + 50 * 60 * minute + minute
      const settings = { waiting: 'daily', hour: 8, decided: 0, noted: 0 } as const
      await trx
        .insertInto('mail_settings')
        .values({ ...settings, principal_id, next_digest_at })
        .execute()
      assert.deepEqual([await hasDueDigest(trx, now), await hasDueDigest(trx, now - 1)], [false, true])
      // It would have been the hour of the person.
      const planned = nextDigest('UTC', 8, next_digest_at)
      await trx.updateTable('mail_settings').set({ next_digest_at: planned }).execute()
      await queueDigests(trx, { nowMilliseconds: now, defaultTimeZone: 'UTC' })
      const { at } = await trx
        .selectFrom('mail_settings')
        .where('principal_id', '=', principal_id)
        .select('next_digest_at as at')
        .executeTakeFirstOrThrow()
      assert.equal(Number(at), nextDigest('UTC', 8, now))
      assert.equal(await isQueued(trx, 'digest'), false)
    })
  })
})
