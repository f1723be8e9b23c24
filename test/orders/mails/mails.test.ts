// engine: both
import assert from 'node:assert/strict'
import { after, beforeEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { waitingMails } from '../../../server/mail/store.ts'
import { bearerOf, newUser, setEnabled, type TestUser } from '../../support/accounts.ts'
import { newAdministrator } from '../../support/administration.ts'
import { testEngine, withRawDatabase } from '../../support/database.ts'
import { addWaitingEvents, seal } from '../../support/log.ts'
import { mailSettings, postOf, startMailServer } from '../../support/mail.ts'
import { atNext } from '../../support/moments.ts'
import { createdId, stamp } from '../../support/orders.ts'
import { testService } from '../../support/service.ts'
import { mailedPeople, type Person } from './people.ts'

const second = 1_000
const hour = 3_600_000
const never = { waiting: 'never', hour: 8, decided: false, noted: false }

const server = await startMailServer()
after(() => server.close())

describe('mail about orders', () => {
  const service = testService({ env: mailSettings })
  const { post, mails, onlyMail, newPerson } = mailedPeople(service, server)
  /** Nothing waits, and what happened before is past. */
  beforeEach(async () => {
    server.refusal = 0
    await withRawDatabase(service.databaseUrl, async (trx) => {
      await trx.deleteFrom('order_approvals').execute()
      await trx.deleteFrom('orders').execute()
      await trx.deleteFrom('mail_settings').execute()
    })
    await nextTurn()
    await mails()
  })

  const creator = async () => (await newPerson({}, ['Operator'])).caller

  describe('at once', () => {
    it('lists what waits for the person, in one mail for half a minute', async () => {
      const { user } = await newPerson({ waiting: 'at-once' })
      const operator = await creator()
      const ids = [
        await createdId(operator, { customer: 'Acme <b>', total: 1234.5 }),
        await createdId(operator),
      ]
      const mail = await onlyMail()
      assert.deepEqual([mail.to, mail.headers.subject], [[user.email], '2 orders wait for your approval'])
      assert.match(mail.text, /\n- #\d+ Acme <b>, 1,234\.50\n- #\d+ /)
      assert.match(mail.html, /<li>#\d+ Acme &lt;b&gt;, 1,234\.50<\/li>/)
      assert.ok(mail.text.includes('https://orders.example.com/orders?filter=waits%3Ame'))
      assert.equal(mail.headers['list-unsubscribe'], '<https://orders.example.com/account>')
      assert.equal(ids.length, 2)
      assert.deepEqual(await mails(), [])
    })

    it('lists an order that is created while the mail is written in another one', async (t) => {
      await newPerson({ waiting: 'at-once' })
      const operator = await creator()
      await createdId(operator, { customer: 'First' })
      let second = ''
      atNext(t, service.db, ['query', 'findWaiting'], async (find) => {
        const found = await find()
        second = await createdId(operator, { customer: 'Second' })
        await seal(service.db)
        return found
      })
      const mail = await onlyMail()
      assert.notEqual(second, '')
      assert.ok(!mail.text.includes('Second'))
      const [next] = await mails()
      assert.ok(next?.text.includes('Second'))
    })

    it('is one mail about all orders that came while the mail server took none', async () => {
      await newPerson({ waiting: 'at-once' })
      const operator = await creator()
      server.refusal = 450
      for (let made = 0; made < 4; made += 1) {
        await createdId(operator)
        assert.deepEqual(await mails(), [])
      }
      server.refusal = 0
      service.advance(60 * second)
      assert.deepEqual(
        (await mails()).map(({ headers }) => headers.subject),
        ['4 orders wait for your approval'],
      )
      service.advance(24 * hour)
      assert.deepEqual(await mails(), [])
    })

    it('says nothing of what no longer waits, or never did', async () => {
      const { caller } = await newPerson({ waiting: 'at-once' })
      await newPerson({ waiting: 'at-once' }, ['Viewer'])
      const operator = await creator()
      const decided = await createdId(operator)
      assert.equal((await caller.patch(`/v1/orders/${decided}/approve`)).status, 204)
      assert.deepEqual(await mails(), [])
    })

    it('goes to nobody who lost the permission, was disabled or changed the setting', async () => {
      const [lost, disabled, changed] = [
        await newPerson({ waiting: 'at-once' }),
        await newPerson({ waiting: 'at-once' }),
        await newPerson({ waiting: 'at-once' }),
      ]
      await createdId(await creator())
      await seal(service.db)
      await post.sendAll()
      const { account } = lost.user
      await service.db.write('revokeRoles', { account, roles: ['Admin'], stamp: stamp() })
      await setEnabled(service, disabled.user, false)
      await changed.caller.send('PUT', '/v1/auth/me/mail', never)
      assert.deepEqual(
        (await mails()).flatMap(({ to }) => to),
        [],
      )
    })

    it('counts what it does not list', async () => {
      await newPerson({ waiting: 'at-once' })
      const operator = await creator()
      for (let made = 0; made < 23; made += 1) await createdId(operator)
      const [mail] = await mails()
      assert.equal(mail?.headers.subject, '23 orders wait for your approval')
      assert.equal(mail?.text.match(/^- #/gm)?.length, 20)
      assert.match(mail?.text ?? '', /\n- and 3 more\n/)
    })
  })

  describe('about a decision', () => {
    it('goes to the creator who wants it, with the decision and without its reason', async () => {
      const { user, caller } = await newPerson({ decided: true }, ['Operator'])
      const other = (await newPerson({ decided: true })).caller
      const rejected = await createdId(caller, { customer: 'Acme', total: 1 })
      const reason = { reason: 'The secret reason.' }
      assert.equal((await other.patch(`/v1/orders/${rejected}/reject`, reason)).status, 204)
      const mail = await onlyMail()
      assert.deepEqual(mail.to, [user.email])
      assert.match(mail.headers.subject ?? '', /^Order #\d+ was rejected$/)
      assert.match(mail.text.replaceAll('\n', ' '), /user-\w+ rejected your order on .* \(Europe\/Berlin\):/)
      assert.ok(mail.text.includes(`https://orders.example.com/orders/${rejected}`))
      assert.ok(!mail.text.includes('secret reason'))
    })

    it('does not go to a creator who decided, nor to one who did not ask for it', async () => {
      const { caller } = await newPerson({ decided: true })
      assert.equal((await caller.patch(`/v1/orders/${await createdId(caller)}/approve`)).status, 204)
      const silent = await createdId(await creator())
      assert.equal((await caller.patch(`/v1/orders/${silent}/approve`)).status, 204)
      assert.deepEqual(await mails(), [])
    })
  })

  it('goes on after a restore with what follows the last line that was left', async () => {
    const { user, caller } = await newPerson({ decided: true }, ['Operator'])
    const other = (await newPerson()).caller
    await withRawDatabase(service.databaseUrl, (trx) =>
      trx
        .updateTable('mail_place')
        .set((eb) => ({ sequence: eb('sequence', '+', 50) }))
        .execute(),
    )
    await service.db.write('beginEra', { atLeast: 1, stamp: stamp() })
    const decided = await createdId(caller)
    assert.equal((await other.patch(`/v1/orders/${decided}/approve`)).status, 204)
    const mail = await onlyMail()
    assert.deepEqual(mail.to, [user.email])
    assert.deepEqual(await mails(), [])
  })

  it('is queued for every event at once, however many came together', async () => {
    const { user, caller } = await newPerson({ decided: true }, ['Operator'])
    const other = (await newPerson()).caller
    const decided = await createdId(caller)
    await addWaitingEvents(service, 300)
    assert.equal((await other.patch(`/v1/orders/${decided}/approve`)).status, 204)
    assert.deepEqual(
      (await mails()).flatMap(({ to }) => to),
      [user.email],
    )
  })

  it('is queued for many people in batches, once for each, and for orders that came meanwhile', async () => {
    const people: TestUser[] = []
    for (let count = 0; count < 120; count += 1) people.push(await newUser(service, { roles: ['Admin'] }))
    const settings = { waiting: 'at-once', hour: 8, decided: 0, noted: 0, next_digest_at: null } as const
    await withRawDatabase(service.databaseUrl, (trx) =>
      trx
        .insertInto('mail_settings')
        .values(people.map(({ id }) => ({ principal_id: id, ...settings })))
        .execute(),
    )
    await nextTurn()
    const caller = await creator()
    await mails()
    const queued = async () => {
      const isMore = await post.post.queueNext()
      const { count } = await waitingMails(service.db.read)
      return [isMore, count]
    }
    await createdId(caller)
    await seal(service.db)
    assert.deepEqual(await queued(), [true, 50])
    await createdId(caller)
    await seal(service.db)
    assert.deepEqual(
      [await queued(), await queued()],
      [
        [true, 100],
        [false, 120],
      ],
    )
    const sent = await mails()
    assert.deepEqual(sent.flatMap(({ to }) => to).toSorted(), people.map(({ email }) => email).toSorted())
    assert.ok(sent.every(({ headers }) => headers.subject === '2 orders wait for your approval'))
    assert.deepEqual(await mails(), [])
  })

  describe('once a day', () => {
    it('comes at the hour of the person while something waits, and not otherwise', async () => {
      const person = await newPerson({ waiting: 'daily', hour: 8 })
      const next = async () => {
        const row = await service.db.read
          .selectFrom('mail_settings')
          .select('next_digest_at as at')
          .where('principal_id', '=', person.user.id)
          .executeTakeFirstOrThrow()
        return row.at ?? 0
      }
      const first = await next()
      assert.equal(new Date(first).toISOString().slice(11), '08:00:00.000Z')
      service.advance(first - 60 * second - service.now())
      assert.deepEqual(await mails(), [])
      service.advance(first - service.now())
      assert.deepEqual(await mails(), [])
      // The default zone of this post is Berlin's: the person moved, so the plan moves too.
      const moved = await next()
      assert.ok(moved > first && moved - first < 24 * hour)
      const operator = await creator()
      await createdId(operator, { customer: 'Acme', total: 3 })
      service.advance(moved - service.now())
      const mail = await onlyMail()
      assert.equal(mail.headers.subject, '1 order waits for your approval')
      assert.match(mail.text, /As of \d+ \w+ \d{4} at 08:00 \(Europe\/Berlin\), 1 order waits/)
      assert.deepEqual(await mails(), [])
    })

    it('says how many have waited for a week of the calendar, which can be an hour shorter', async () => {
      const at = (instant: string) => service.advance(Date.parse(instant) - service.now())
      at('2027-03-21T06:30:00Z')
      await newPerson({ waiting: 'daily', hour: 8 })
      const operator = await creator()
      await createdId(operator)
      await createdId(operator)
      at('2027-03-21T07:10:00Z')
      await createdId(await creator())
      // The plan moves to the zone of this post first. The clocks of Berlin go forward on 28 March.
      at('2027-03-22T06:00:00Z')
      await mails()
      for (const [instant, said] of [
        ['2027-03-27T07:00:00Z', ':'],
        ['2027-03-28T06:00:00Z', '; 2 have waited longer than a week:'],
        ['2027-03-29T06:00:00Z', '; 3 have waited longer than a week:'],
      ] as const) {
        at(instant)
        const text = (await mails())[0]?.text.replaceAll('\n', ' ') ?? ''
        assert.ok(text.includes(`, 3 orders wait for your approval${said}`), text)
      }
    })

    /** The local times at which the person gets the daily mail in the next days, while an order waits. */
    async function timesOfMails({ user }: Person, days: number, timeZone: string): Promise<string[]> {
      const times: string[] = []
      for (let hours = 0; hours < 24 * days; hours += 1) {
        service.advance(hour)
        await post.sendAll()
        const at = Temporal.Instant.fromEpochMilliseconds(service.now()).toZonedDateTimeISO(timeZone)
        const time = at.toPlainTime().toString({ smallestUnit: 'minute' })
        for (const { to, text } of server.received()) {
          if (!to.includes(user.email)) continue
          times.push(time)
          assert.ok(text.replaceAll('\n', ' ').includes(` at ${time} (${timeZone}), `), text)
        }
      }
      return times
    }

    /** Sets the hour, then the zone, as the person and an administrator do. */
    async function change({ user }: Person, hourOfMail: number, timeZone: string): Promise<void> {
      const caller = await bearerOf(service, user)
      const set = { waiting: 'daily', hour: hourOfMail, decided: false, noted: false }
      assert.equal((await caller.send('PUT', '/v1/auth/me/mail', set)).status, 204)
      const { caller: boss } = await newAdministrator(service)
      const moved = await boss.patch(`/v1/users/${user.id}`, { timeZone })
      assert.equal(moved.status, 204, moved.text)
    }

    it('comes at another hour or in another zone from the next day on, however often they change', {
      skip: testEngine === 'postgres' && 'no SQL computes with time zones',
    }, async () => {
      const person = await newPerson()
      await createdId(await creator())
      await mails()
      service.advance(hour - (service.now() % hour))
      for (const [hourOfMail, timeZone] of [
        [8, 'Europe/Berlin'],
        [17, 'Europe/Berlin'],
        [17, 'America/New_York'],
        [3, 'America/New_York'],
        [3, 'Asia/Tokyo'],
        [23, 'Pacific/Auckland'],
      ] as const) {
        await change(person, hourOfMail, timeZone)
        // Mail that was planned before passes first.
        await timesOfMails(person, 1, timeZone)
        const due = `${String(hourOfMail).padStart(2, '0')}:00`
        assert.deepEqual(await timesOfMails(person, 3, timeZone), [due, due, due], timeZone)
      }
    })

    it('comes on the same day if only its hour changes', async () => {
      const person = await newPerson()
      await createdId(await creator())
      await mails()
      service.advance(24 * hour - (service.now() % (24 * hour)))
      await change(person, 20, 'UTC')
      for (const hourOfMail of [5, 2, 9]) await change(person, hourOfMail, 'UTC')
      assert.deepEqual(await timesOfMails(person, 1, 'UTC'), ['09:00'])
    })

    it('comes once after days without the service, and then at its hour', async () => {
      const person = await newPerson()
      await createdId(await creator())
      await mails()
      service.advance(24 * hour - (service.now() % (24 * hour)))
      await change(person, 20, 'UTC')
      service.advance(72 * hour)
      assert.deepEqual(await timesOfMails(person, 1, 'UTC'), ['01:00', '20:00'])
    })

    it('comes to each of many people once, from any number of instances', async () => {
      const people = await Promise.all(
        Array.from({ length: 60 }, () => newUser(service, { roles: ['Admin'] })),
      )
      const at = service.now() + hour
      await withRawDatabase(service.databaseUrl, async (trx) => {
        const rows = people.map(({ id }) => ({
          principal_id: id,
          waiting: 'daily' as const,
          decided: 0,
          noted: 0,
        }))
        const zoned = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO('Europe/Berlin')
        const due = zoned.round({ smallestUnit: 'hour', roundingMode: 'floor' })
        const values = rows.map((row) => ({ ...row, hour: due.hour, next_digest_at: due.epochMilliseconds }))
        await trx.insertInto('mail_settings').values(values).execute()
      })
      await createdId(await creator())
      service.advance(hour)
      await seal(service.db)
      const other = postOf(service, server)
      await Promise.all([post.sendAll(), other.sendAll()])
      const to = server.received().flatMap((mail) => mail.to)
      assert.deepEqual(to.sort(), people.map(({ email }) => email).sort())
    })
  })
})
