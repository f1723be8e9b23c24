// engine: both
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, it } from 'node:test'
import { sql } from '#kysely'
import { type LogReport, verifyLog } from '../../proof/log.ts'
import { readVerifierKey } from '../../proof/note.ts'
import { judgeReceipt, verdictOf } from '../../proof/verdict.ts'
import { endOfLog } from '../../server/audit/audit.ts'
import { exportLog } from '../../server/audit/lines/log.ts'
import { type Taken, takeFrom } from '../../server/audit/sealing/erase.ts'
import { machineStamp } from '../../server/caller/stamp.ts'
import { bearerOf, newUser, type TestUser } from '../support/accounts.ts'
import type { Client } from '../support/client.ts'
import { testEngine, withRawDatabase } from '../support/database.ts'
import { decide, sign } from '../support/decisions.ts'
import { storedEvents } from '../support/kept-log.ts'
import { addEvents, addWaitingEvents, seal } from '../support/log.ts'
import { createdId } from '../support/orders.ts'
import { newPasskey } from '../support/passkeys.ts'
import { policyRow, putPolicy } from '../support/policy.ts'
import { connectTo, lockWaiters } from '../support/postgres.ts'
import { assertProblem } from '../support/problem.ts'
import { setUp, testService } from '../support/service.ts'
import { until } from '../support/stream.ts'
import { viewOf } from '../support/views.ts'

describe('erasure', () => {
  const service = testService({ inside: true })
  const admin = setUp(() => service.bearer('admin'))
  const stamp = () => machineStamp(service.now())
  const erasePerson = ({ id }: Pick<TestUser, 'id'>) =>
    service.db.write('erasePerson', { id, stamp: stamp() })
  const eraseCustomer = (customer: string) => service.db.write('eraseCustomer', { customer, stamp: stamp() })

  async function verified(): Promise<LogReport> {
    await seal(service.db)
    const lines = exportLog(service.db, 0, 'test')
    async function* bytes() {
      for await (const line of lines) yield Buffer.from(line)
    }
    return verifyLog(bytes())
  }

  async function addDocument(caller: Client, order: string, name: string): Promise<void> {
    const path = `/v1/orders/${order}/documents?name=${name}`
    assert.equal((await caller.send('POST', path, 'bytes', { 'content-type': 'text/plain' })).status, 201)
  }

  /** Every row of every table that has one of the texts, ignoring case. */
  async function rowsWith(...texts: string[]): Promise<string[]> {
    const tables = await service.db.read.introspection.getTables()
    const found: string[] = []
    for (const { name, isView } of tables.filter((table) => !/^orders_search_/.test(table.name))) {
      if (isView) continue
      const { rows } = await sql<object>`select * from ${sql.table(name)}`.execute(service.db.read)
      const wrong = rows.map((row) => JSON.stringify(row)).filter((row) => has(row, texts))
      found.push(...wrong.map((row) => `${name}: ${row}`))
    }
    return found
  }
  const has = (row: string, texts: readonly string[]) =>
    texts.some((text) => row.toLowerCase().includes(text.toLowerCase()))

  async function person(name: string, roles = ['Admin']) {
    const user = await newUser(service, { roles })
    const change = { name, userName: `${name.toLowerCase()}-${user.id}` }
    assert.equal((await admin.patch(`/v1/users/${user.id}`, change)).status, 204)
    const renamed = { ...user, userName: change.userName }
    return {
      ...renamed,
      caller: await bearerOf(service, renamed),
      names: [change.userName, name, user.userName, user.email],
    }
  }

  describe('of a person', () => {
    let ann: Awaited<ReturnType<typeof person>>
    let bo: Awaited<ReturnType<typeof person>>
    let order: string
    let signed: string
    let receipts: string[]
    let before_: LogReport
    const read = async (caller: Client, path = '') => (await caller.get(`/v1/orders/${order}${path}`)).body
    /** Another request may be sealing just then, and the answer asks for another try. */
    const receiptNow = async (id: string): Promise<string> => {
      for (;;) {
        const { body, status } = await admin.get(`/v1/orders/${id}/receipt`)
        if (body.code === 'receipt-not-ready') continue
        assert.equal(status, 200, JSON.stringify(body))
        return body.receipt
      }
    }
    const receiptsNow = () => Promise.all([order, signed].map(receiptNow))
    before(async () => {
      ann = await person('Annabella')
      bo = await person('Boleslaw')
      const setByAnn = { password_origin: 'set', password_set_by: ann.id } as const
      await withRawDatabase(service.databaseUrl, (trx) =>
        trx.updateTable('users').set(setByAnn).where('principal_id', '=', bo.id).execute(),
      )
      await newPasskey(service, bo)
      const passkey = await newPasskey(service, ann)
      signed = await createdId(admin, { customer: 'Acme' })
      const [signature] = await sign(ann.caller, passkey, { orders: [signed] })
      assert.equal((await decide(ann.caller, signed, signature)).status, 204)
      const until = new Date(service.now() + 3_600_000).toISOString()
      const absence = { from: new Date(service.now()).toISOString(), until, deputyId: bo.id }
      assert.equal((await ann.caller.send('PUT', '/v1/auth/absence', absence)).status, 204)
      const view = { name: 'Mine', filter: 'Acme', orderBy: 'id', order: 'Asc', columns: ['id'] }
      await ann.caller.post('/v1/views', view)
      const client = { clientId: `owned-${ann.id}`, roles: ['Operator'], ownerId: ann.id }
      assert.equal((await admin.post('/v1/clients', client)).status, 201)
      await putPolicy(service, [policyRow({ approvals: 2 })])
      order = await createdId(ann.caller, { customer: 'Acme' })
      await bo.caller.patch(`/v1/orders/${order}/approve`)
      await admin.patch(`/v1/orders/${order}/approve`)
      receipts = await receiptsNow()
      before_ = await verified()
      assert.equal(before_.fault, null)
    })

    it('takes the names from every row, and the log verifies as before', async () => {
      const { version } = await service.db.read
        .selectFrom('orders')
        .select('version')
        .where('id', '=', order)
        .executeTakeFirstOrThrow()
      const done = await erasePerson(ann)
      assert.equal(done?.name, `person-${ann.id}`)
      assert.equal(done?.orders, 2)
      assert.deepEqual(await rowsWith(...ann.names), [])
      const after = await verified()
      assert.deepEqual([after.fault, after.lost], [null, null])
      const raised = await service.db.read
        .selectFrom('orders')
        .select(['version', 'created_by', 'approved_by'])
        .where('id', '=', order)
        .executeTakeFirstOrThrow()
      assert.equal(raised.version, version + 1)
      const { createdBy } = await read(admin)
      assert.equal(createdBy, `person-${ann.id}`)
      const { items } = await read(admin, '/history')
      assert.deepEqual(items[0].erased, ['by', 'byName'])
      assert.deepEqual([items[0].by, items[0].byName], [`person-${ann.id}`, null])
    })

    it('leaves receipts valid by the key of the log, those of before and those of now', async () => {
      const now = await receiptsNow()
      const [key] = (await service.client().get('/v1/log/key')).body.keys
      const keys = [await readVerifierKey(key.verifierKey)]
      for (const receipt of [...receipts, ...now]) {
        const judged = await judgeReceipt(receipt, keys)
        assert.deepEqual([verdictOf([judged]), judged.faults], ['valid', []])
      }
      const text = now.map((receipt) => Buffer.from(receipt.split('.')[1] ?? '', 'base64url').toString())
      assert.equal(has(String(text), ann.names), false)
      assert.equal(has(String(text), [`"${ann.id}"`, `:${ann.id},`]), true)
    })

    it('leaves one event that says where they were, and not what', async () => {
      const event = (await storedEvents(service.db.read)).findLast(({ kind }) => kind === 'erased')
      assert.deepEqual([event?.subject_kind, event?.subject_id], ['log', `person-${ann.id}`])
      const { erased } = JSON.parse(event?.data ?? '')
      for (const name of ['by', 'byName', 'name', 'formerName', 'printedName', 'owner', 'passkeyName']) {
        assert.ok(erased[name]?.length > 0, name)
      }
      assert.equal(erased.customer, undefined)
    })

    it('ends every sign-in, also one that an instance remembers, and lets nobody be them', async () => {
      assertProblem(
        await ann.caller.post('/v1/orders', { customer: 'Acme', total: 1 }),
        401,
        'authentication-required',
      )
      assert.equal(await erasePerson(ann), null)
      for (const change of [{ enabled: true }, { userName: 'ann-again', name: 'Ann' }]) {
        assertProblem(await admin.patch(`/v1/users/${ann.id}`, change), 409, 'account-erased')
      }
      const view = await ann.caller.send('PUT', `/v1/views/${randomUUID()}`, viewOf())
      assertProblem(view, 401, 'authentication-required')
      const { email, enabled, name } = (await admin.get(`/v1/users/${ann.id}`)).body
      assert.deepEqual([email, enabled, name], [`person-${ann.id}@erased.invalid`, false, null])
    })

    it('takes a deputy from the approvals, and keeps the other names', async () => {
      await erasePerson(bo)
      assert.deepEqual(await rowsWith(...bo.names), [])
      const { items } = await read(admin, '/history')
      assert.deepEqual(
        items.map(({ by }: { by: string }) => by),
        [`person-${ann.id}`, `person-${bo.id}`, 'admin'],
      )
      const row = (await admin.get(`/v1/orders?filter=id:${order}&columns=approvedBy,modifiedBy`)).body
        .items[0]
      assert.deepEqual([row.approvedBy, row.modifiedBy], [`person-${bo.id}, admin`, 'admin'])
    })

    it('takes the name from the documents, and ends the absences with the person as the deputy', async () => {
      const deputy = await person('Deputison')
      const away = await person('Awayson')
      await addDocument(deputy.caller, await createdId(deputy.caller, { customer: 'Acme' }), 'offer')
      const [from, until] = [0, 3_600_000].map((after) => new Date(service.now() + after).toISOString())
      const absence = { from, until, deputyId: deputy.id }
      assert.equal((await away.caller.send('PUT', '/v1/auth/absence', absence)).status, 204)
      await erasePerson(deputy)
      assert.deepEqual(await rowsWith(...deputy.names), [])
      const absences = service.db.read
        .selectFrom('absences')
        .select('principal_id')
        .where('deputy_id', '=', deputy.id)
      assert.deepEqual(await absences.execute(), [])
    })

    it('ends the passkeys in the log, too, so that another account can enrol them', async () => {
      const leaver = await person('Leaverson', ['Operator'])
      const passkey = await newPasskey(service, leaver)
      await erasePerson(leaver)
      await newPasskey(service, await person('Successor', ['Operator']), passkey)
      assert.deepEqual(await rowsWith(...leaver.names), [])
      const { fault, lost } = await verified()
      assert.deepEqual([fault, lost], [null, null])
    })

    it('is refused for an unknown id, and for the last administrator', async () => {
      await assert.rejects(erasePerson({ id: 1_000_000 }), { code: 'user-not-found' })
    })

    it('records nothing for a person who was erased while the request was on its way', async () => {
      const late = await person('Latecomer', ['Operator'])
      const { id: byId, userName: by } = late
      await erasePerson(late)
      const id = '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57'
      const input = { order: { id, customer: 'Acme', total: 10_000 }, idempotency: null }
      const create = service.db.write('createOrder', { ...input, stamp: { ...stamp(), byId, by } })
      await assert.rejects(create, { code: 'authentication-required' })
      assert.deepEqual(await rowsWith(...late.names, id), [])
    })

    it('takes it from an event that waits for its seal behind 1,000 others', async () => {
      await addWaitingEvents(service, 1_000)
      const carl = await person('Carl')
      await createdId(carl.caller)
      await erasePerson(carl)
      assert.deepEqual(await rowsWith(...carl.names), [])
    })
  })

  describe('of a customer', () => {
    it('takes the name from orders in any spelling, from the log and from the search', async () => {
      const [one, two] = [
        await createdId(admin, { customer: 'Zacharias Quine' }),
        await createdId(admin, { customer: 'ZACHARIAS quine' }),
      ]
      const other = await createdId(admin, { customer: 'Zacharias Quine Ltd' })
      await admin.patch(`/v1/orders/${one}/approve`)
      const { number } = (await admin.get(`/v1/orders/${one}/approvals`)).body
      const done = await eraseCustomer('zacharias QUINE')
      assert.deepEqual([done.name, done.orders], [`customer-${number}`, 2])
      for (const id of [one, two]) {
        assert.equal((await admin.get(`/v1/orders/${id}`)).body.customer, `customer-${number}`)
        const { items } = (await admin.get(`/v1/orders/${id}/history`)).body
        assert.ok(items.every(({ erased }: { erased: string[] }) => String(erased) === 'customer'))
      }
      const found = (await admin.get('/v1/orders?filter=Zacharias')).body.items
      assert.deepEqual(
        found.map(({ id }: { id: string }) => id),
        [other],
      )
      assert.equal((await admin.get(`/v1/orders?filter=customer-${number}`)).body.totalCount, 2)
      const rows = await rowsWith('zacharias quine"')
      assert.deepEqual(rows, [])
      const after = await verified()
      assert.deepEqual([after.fault, after.lost], [null, null])
      const event = (await storedEvents(service.db.read)).findLast(({ kind }) => kind === 'erased')
      assert.deepEqual(JSON.parse(event?.data ?? '').orders.sort(), [one, two].sort())
    })

    it('is refused for a name that no order has', async () => {
      await assert.rejects(eraseCustomer('Nobody at all'), { code: 'customer-not-found' })
    })
  })

  const oneThreadWrites = testEngine === 'sqlite' ? 'one thread writes' : false
  const someoneWaits = () => until(async () => (await lockWaiters(service.databaseUrl)) > 0)

  it('leaves no name to an event that waits for it, of someone who set a password or has the account', {
    skip: oneThreadWrites,
  }, async (t) => {
    const [setter, owner] = [await person('Setter'), await person('Owner')]
    const account = { kind: 'user', name: setter.userName } as const
    const holder = await connectTo(service.databaseUrl)
    t.after(() => holder.end())
    const values = [owner.id, setter.id]
    await holder.query(
      `update users set password_origin = 'set', password_set_by = $2 where principal_id = $1`,
      values,
    )
    const renamed =
      "update principals set name = 'person-' || id, name_folded = 'person-' || id where id = $1"
    for (const write of [
      () => newPasskey(service, owner),
      () => service.db.write('setPassword', { account, passwordHash: 'new', stamp: stamp() }),
    ]) {
      await holder.query('begin')
      await holder.query(renamed, [setter.id])
      const written = write()
      await someoneWaits()
      await holder.query('commit')
      await written
      const event = (await storedEvents(service.db.read)).at(-1)
      assert.ok(event)
      assert.equal(has(JSON.stringify(event), [setter.userName]), false, event.kind)
      await holder.query(`update principals set name = $2, name_folded = $2 where id = $1`, [
        setter.id,
        setter.userName,
      ])
    }
  })

  const approval = 'update orders set version = version where id = $1'
  const sealing = 'select * from log_head where $1 = $1::text for update'
  const ofOne = (customer: string) => eraseCustomer(customer)
  const ofCreator = (_: string, creator: TestUser) => erasePerson(creator)
  const ofItsLine = async (_: string, __: TestUser, id: string) => {
    await seal(service.db)
    const { sequence } = await service.db.read
      .selectFrom('events')
      .select('sequence')
      .where('subject_id', '=', id)
      .executeTakeFirstOrThrow()
    await service.db.write('eraseFromLog', { sequence, name: 'customer', stamp: stamp() })
  }
  const ofItsDocument = async (_: string, __: TestUser, orderId: string) => {
    const [{ id }] = (await admin.get(`/v1/orders/${orderId}/documents`)).body.items
    await service.db.write('eraseDocument', { orderId, id, stamp: stamp() })
  }
  for (const [what, first, erase] of [
    ['of a customer', approval, ofOne],
    ['of a customer', sealing, ofOne],
    ['of a person', approval, ofCreator],
    ['of a person', sealing, ofCreator],
    ['of a line', approval, ofItsLine],
    ['of a document', approval, ofItsDocument],
  ] as const) {
    const waits = first === approval ? 'an approval' : 'a sealer'
    it(`${what} lets ${waits} go on that it waits for`, { skip: oneThreadWrites }, async (t) => {
      const creator = await person('Creator')
      const customer = `Customer of ${creator.id}`
      const id = await createdId(creator.caller, { customer })
      await addDocument(creator.caller, id, 'plan.txt')
      const holder = await connectTo(service.databaseUrl)
      t.after(() => holder.end())
      await holder.query('begin')
      await holder.query(first, [id])
      const erased = erase(customer, creator, id)
      await someoneWaits()
      await holder.query('lock table unsealed_events in row exclusive mode nowait')
      await holder.query('select id from order_documents where order_id = $1 for update nowait', [id])
      await holder.query('commit')
      await erased
    })
  }

  it('finds a name in any number of lines', async () => {
    await addEvents(service, 1_001, 0)
    const { sequence: last } = await endOfLog(service.db.read)
    const sequences = Array.from({ length: 1_001 }, (_, index) => last - 1_000 + index)
    let taken: Taken | undefined
    // Not committed: no event says that it was taken.
    const taking = withRawDatabase(service.databaseUrl, async (trx) => {
      taken = await takeFrom(trx, sequences, (_event, name) => name === 'by')
      throw new Error('rolled back')
    })
    await assert.rejects(taking, /rolled back/)
    // This connection does not read the numbers of PostgreSQL as the service does.
    assert.deepEqual(taken?.places.by?.map(Number), sequences)
  })

  it('of a line takes the name of a document from the order, too', async () => {
    const order = await createdId(admin)
    await addDocument(admin, order, 'secret-plan.txt')
    await seal(service.db)
    const event = (await storedEvents(service.db.read, order)).at(-1)
    const sequence = Number((event as { sequence?: number }).sequence)
    await service.db.write('eraseFromLog', { sequence, name: 'documentName', stamp: stamp() })
    assert.deepEqual(await rowsWith('secret-plan'), [])
    const [document] = (await admin.get(`/v1/orders/${order}/documents`)).body.items
    assert.equal(document.name, `document-${document.sha256.slice(0, 8)}`)
    assert.equal((await verified()).lost, null)
  })
})
