// engine: both
import assert from 'node:assert/strict'
import { after, beforeEach, describe, it } from 'node:test'
import { eventRow } from '../../../server/audit/audit.ts'
import type { Db } from '../../../server/db/tables.ts'
import { newOrderedId } from '../../../server/ids.ts'
import { operations } from '../../../server/operations.ts'
import { findNoted } from '../../../server/orders/mails/noted.ts'
import { machineOf, newClient, setEnabled } from '../../support/accounts.ts'
import { newAdministrator } from '../../support/administration.ts'
import type { Client } from '../../support/client.ts'
import { withRawDatabase } from '../../support/database.ts'
import { seal } from '../../support/log.ts'
import { mailSettings, startMailServer } from '../../support/mail.ts'
import { atNext } from '../../support/moments.ts'
import { createdId, stamp } from '../../support/orders.ts'
import { statementsOf } from '../../support/plans.ts'
import { setAbsence } from '../../support/policy.ts'
import { testService } from '../../support/service.ts'
import { mailedPeople, type Person } from './people.ts'

const server = await startMailServer()
after(() => server.close())

describe('mail about notes', () => {
  const service = testService({ env: mailSettings })
  const { post, mails, onlyMail, newPerson } = mailedPeople(service, server)
  beforeEach(async () => {
    server.refusal = 0
    await withRawDatabase(service.databaseUrl, (trx) => trx.deleteFrom('mail_settings').execute())
    await mails()
  })

  const erase = ({ user: { id } }: Person) => service.db.write('erasePerson', { id, stamp: stamp() })
  const note = async (caller: Client, id: string, text = 'The secret note.') =>
    assert.equal((await caller.post(`/v1/orders/${id}/notes`, { text })).status, 201)
  const recipients = async () => (await mails()).flatMap(({ to }) => to).toSorted()
  const emailsOf = (...people: Person[]) => people.map(({ user }) => user.email).toSorted()

  it('goes to the creator, the approvers and earlier writers, not to its own writer, and quotes nothing', async () => {
    const person = () => newPerson({ noted: true })
    const [owner, approver, writer, other] = [await person(), await person(), await person(), await person()]
    const id = await createdId(owner.caller, { customer: 'Acme', total: 1, note: 'Ready' })
    assert.deepEqual(await recipients(), [])
    await note(writer.caller, id)
    const mail = await onlyMail()
    assert.deepEqual(mail.to, [owner.user.email])
    assert.match(mail.headers.subject ?? '', /^New notes on order #\d+$/)
    assert.match(
      mail.text,
      /\n\S+ wrote a note on \d+ \w+ \d{4} at \d\d:\d\d\s\(Europe\/Berlin\):\n\n- #\d+ Acme, 1\.00\n/,
    )
    assert.ok(mail.text.includes(`https://orders.example.com/orders/${id}`))
    assert.ok(!mail.text.includes('secret note'))
    assert.equal((await approver.caller.patch(`/v1/orders/${id}/approve`)).status, 204)
    await note(other.caller, id)
    assert.deepEqual(await recipients(), emailsOf(owner, approver, writer))
  })

  it('says once what several people wrote within half a minute, on all orders', async () => {
    const owner = await newPerson({ noted: true }, ['Operator'])
    const ids = [await createdId(owner.caller), await createdId(owner.caller)] as const
    const [one, two] = [await newPerson(), await newPerson()]
    await note(one.caller, ids[0])
    await note(two.caller, ids[0])
    await note(one.caller, ids[0])
    await note(owner.caller, ids[0])
    await note(one.caller, ids[1])
    const mail = await onlyMail()
    assert.equal(mail.headers.subject, 'New notes on 2 orders')
    const names = `${one.user.userName} and ${two.user.userName}`
    assert.ok(mail.text.replaceAll('\n', ' ').includes(`${names} wrote 3 notes, the last on`))
    assert.deepEqual(await mails(), [])
  })

  it('goes to nobody who may not read orders, is disabled, has not asked for it or was erased', async () => {
    const people = [await newPerson({ noted: true }), await newPerson({ noted: true }), await newPerson()]
    const [lost, disabled] = people as [Person, Person]
    const gone = await newPerson({ noted: true })
    const id = await createdId((await newPerson({}, ['Operator'])).caller)
    for (const { caller } of [...people, gone]) await note(caller, id)
    await mails()
    await note((await newPerson()).caller, id)
    const revoked = { account: lost.user.account, roles: ['Admin'], stamp: stamp() }
    await service.db.write('revokeRoles', revoked)
    await setEnabled(service, disabled.user, false)
    await erase(gone)
    assert.deepEqual(await mails(), [])
  })

  it('says who wrote by the printed name, and `person-` and a number after an erasure', async () => {
    const owner = await newPerson({ noted: true }, ['Operator'])
    const [named, gone] = [await newPerson(), await newPerson()]
    const id = await createdId(owner.caller)
    const { caller: boss } = await newAdministrator(service)
    assert.equal((await boss.patch(`/v1/users/${named.user.id}`, { name: 'Ann Lee' })).status, 204)
    await note(named.caller, id)
    await note(gone.caller, id)
    await erase(gone)
    const [mail] = await mails()
    assert.ok(mail)
    const names = `Ann Lee (${named.user.userName}) and person-${gone.user.id}`
    assert.ok(mail.text.replaceAll('\n', ' ').includes(`${names} wrote 2 notes`))
  })

  it('goes to the owner of a service that created the order, but not about the note it came with', async () => {
    const owner = await newPerson({ noted: true })
    const caller = await machineOf(service, await newClient(service, ['Operator'], owner.user.id))
    const id = await createdId(caller, { note: 'From the shop' })
    assert.deepEqual(await recipients(), [])
    await note(caller, id)
    assert.deepEqual(await recipients(), emailsOf(owner))
  })

  it('goes to the deputy who approved, and to the absent person in whose place', async () => {
    const [absent, deputy] = [await newPerson({ noted: true }), await newPerson({ noted: true }, ['Viewer'])]
    await setAbsence(service, absent.user, deputy.user)
    const id = await createdId((await newPerson({}, ['Operator'])).caller)
    assert.equal((await deputy.caller.patch(`/v1/orders/${id}/approve`)).status, 204)
    await note((await newPerson()).caller, id)
    assert.deepEqual(await recipients(), emailsOf(absent, deputy))
  })

  it('is one mail after the mail server took none for a while, within a minute of the last note', async () => {
    const [owner, writer] = [await newPerson({ noted: true }), await newPerson()]
    const id = await createdId(owner.caller)
    server.refusal = 450
    for (let written = 0; written < 5; written += 1) {
      await note(writer.caller, id)
      assert.deepEqual(await mails(), [])
      service.advance(31_000)
    }
    await note(writer.caller, id)
    await seal(service.db)
    await post.queueAll()
    server.refusal = 0
    service.advance(60_000)
    const mail = await onlyMail()
    assert.match(mail.text, / wrote\s6\snotes/)
    service.advance(24 * 3_600_000)
    assert.deepEqual(await mails(), [])
  })

  describe('that is written while a mail is on its way', () => {
    const meanwhile = async (caller: Client, id: string) => {
      await note(caller, id)
      await seal(service.db)
      await post.queueAll()
    }
    const texts = async () => (await mails()).map(({ text }) => /wrote\s(a note|\d\snotes)/.exec(text)?.[1])

    it('comes with the next mail, which does not repeat the first', async (t) => {
      const [owner, writer] = [await newPerson({ noted: true }), await newPerson()]
      const id = await createdId(owner.caller)
      await note(writer.caller, id)
      atNext(t, post.post.parts.smtp, ['send'], async (send) => {
        await meanwhile(writer.caller, id)
        return send()
      })
      assert.deepEqual(await texts(), ['a note'])
      assert.deepEqual(await texts(), ['a note'])
      assert.deepEqual(await texts(), [])
    })

    it('comes with the next mail if the first had been written, and was not yet on its way', async (t) => {
      const [owner, writer] = [await newPerson({ noted: true }), await newPerson()]
      const id = await createdId(owner.caller)
      await note(writer.caller, id)
      atNext(t, service.db, ['query', 'findNoted'], async (find) => {
        const found = await find()
        await meanwhile(writer.caller, id)
        return found
      })
      assert.deepEqual(await texts(), ['a note'])
      assert.deepEqual(await texts(), ['a note'])
      assert.deepEqual(await texts(), [])
    })

    it('comes with the same mail if the server did not take it', async (t) => {
      const [owner, writer] = [await newPerson({ noted: true }), await newPerson()]
      const id = await createdId(owner.caller)
      await note(writer.caller, id)
      atNext(t, post.post.parts.smtp, ['send'], async () => {
        await meanwhile(writer.caller, id)
        throw new Error('away')
      })
      assert.deepEqual(await texts(), [])
      service.advance(60_000)
      assert.deepEqual(await texts(), ['2 notes'])
    })

    it('is mailed if there was nothing to say before', async (t) => {
      const [owner, writer] = [await newPerson({ noted: true }), await newPerson()]
      const want = { waiting: 'never', hour: 8, decided: false, noted: true }
      const id = await createdId(owner.caller)
      await note(writer.caller, id)
      await seal(service.db)
      await post.queueAll()
      await owner.caller.send('PUT', '/v1/auth/me/mail', { ...want, noted: false })
      atNext(t, service.db, ['write', 'dropMail'], async (drop) => {
        await owner.caller.send('PUT', '/v1/auth/me/mail', want)
        await meanwhile(writer.caller, id)
        return drop()
      })
      assert.deepEqual(await texts(), [])
      service.advance(60_000)
      assert.deepEqual(await texts(), ['2 notes'])
    })
  })

  it('counts the orders and writers that it does not list', async () => {
    const owner = await newPerson({ noted: true })
    const writers = [
      await newPerson(),
      await newPerson(),
      await newPerson(),
      await newPerson(),
      await newPerson(),
    ]
    for (let made = 0; made < 23; made += 1) {
      const id = await createdId(owner.caller)
      for (const { caller } of made === 0 ? writers : writers.slice(0, 1)) await note(caller, id)
    }
    const [mail] = await mails()
    assert.equal(mail?.headers.subject, 'New notes on 23 orders')
    assert.equal(mail.text.match(/^- #/gm)?.length, 20)
    assert.match(mail.text, /There are new notes on 3 more\./)
    assert.match(mail.text.replaceAll('\n', ' '), /user-\w+, user-\w+, user-\w+, and 2 others wrote 5 notes,/)
  })

  it('finds the people of an order once for many notes, and reads none of their texts', async () => {
    const [owner, writer] = [await newPerson({ noted: true }), await newPerson()]
    const id = await createdId(owner.caller)
    await addNotes(id, writer, 1_000)
    await seal(service.db)
    let batches = 0
    for (let isMore = true; isMore; batches += 1) {
      let rows = 0
      const statements = await statementsOf(service, async (db) => {
        const counted = db.withPlugin({
          transformQuery: ({ node }) => node,
          async transformResult({ result }) {
            rows += result.rows.length
            return result
          },
        })
        const input = { nowMilliseconds: service.now() }
        isMore = await counted.transaction().execute((trx) => operations.queueEventMails(trx, input))
      })
      assert.ok(statements.length <= 20 && rows <= 120, `${statements.length} statements, ${rows} rows`)
    }
    assert.ok(batches > 10)
    const first = await service.db.read.selectFrom('mails').select('about').where('kind', '=', 'order-noted')
    const { about } = await first.where('recipient', '=', String(owner.user.id)).executeTakeFirstOrThrow()
    const find = (db: Db) => findNoted(db, { person: owner.user.id, first: Number(about) })
    const statements = await statementsOf(service, find)
    assert.equal(
      statements.filter(({ sql }) => /\bevents\b.*\bclear\b|\bclear\b.*\bevents\b/s.test(sql)).length,
      1,
    )
    assert.equal(statements.length, 4)
    service.advance(30_000)
    const [mail] = await mails()
    assert.match(mail?.text ?? '', / wrote\s1,000\snotes/)
  })

  const addNotes = (id: string, { user }: Person, count: number) =>
    withRawDatabase(service.databaseUrl, async (trx) => {
      const facts = { total: '1', customer: 'Acme', text: 'long '.repeat(200) }
      const subject = { kind: 'order', id } as const
      const rows = Array.from({ length: count }, () => {
        const now = service.now()
        const by = { by: user.userName, byId: user.id, nowMilliseconds: now, eventId: newOrderedId(now) }
        return eventRow(stamp(by), { kind: 'noted', subject, version: 1, facts })
      })
      await trx.insertInto('unsealed_events').values(rows).execute()
    })
})
