import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { spellStatement, verifyDecision } from '../../../proof/decision.ts'
import { readReceipt } from '../../../proof/receipt.ts'
import { judgeReceipt } from '../../../proof/verdict.ts'
import { Statements } from '../../../server/orders/statements.ts'
import {
  bearerOf,
  grantRoles,
  machineOf,
  newClient,
  newUser,
  signIn,
  type TestUser,
} from '../../support/accounts.ts'
import { Passkey } from '../../support/authenticator.ts'
import type { Answer, Client } from '../../support/client.ts'
import { decide, type Presented, prepare, sign, touch } from '../../support/decisions.ts'
import { addDocument, digestOf } from '../../support/documents.ts'
import { interruptedInstance } from '../../support/interrupted.ts'
import { storedEvents } from '../../support/kept-log.ts'
import { seal } from '../../support/log.ts'
import { createdId } from '../../support/orders.ts'
import { addPasskey, newPasskey, signInOptions } from '../../support/passkeys.ts'
import {
  approvalState,
  approve,
  endAbsence,
  policyRow,
  putPolicy,
  putsPolicyBack,
  setAbsence,
} from '../../support/policy.ts'
import { assertProblem } from '../../support/problem.ts'
import { addRole } from '../../support/roles.ts'
import { publicUrl, setUp, startService, testService } from '../../support/service.ts'

interface Signer extends TestUser {
  caller: Client
  passkey: Passkey
}

describe('a decision that is signed with a passkey', () => {
  const service = testService()
  putsPolicyBack(service)
  const operator = setUp(() => service.bearer('operator'))

  async function signer(...roles: string[]): Promise<Signer> {
    const user = await newUser(service, { roles })
    const passkey = await newPasskey(service, user)
    return { ...user, passkey, caller: await bearerOf(service, user) }
  }
  const ann = setUp(() => signer('Admin'))
  const bo = setUp(() => signer('Admin'))

  async function strictOrder(row: Parameters<typeof policyRow>[0] = {}): Promise<string> {
    await putPolicy(service, [policyRow({ passkey: true, ...row })])
    return createdId(operator, { customer: 'Acme', total: 1250.5 })
  }
  async function strictOrders(count: number): Promise<string[]> {
    const first = await strictOrder()
    const others = Array.from({ length: count - 1 }, () => createdId(operator, { customer: 'Acme' }))
    return [first, ...(await Promise.all(others))]
  }
  const statusOf = async (id: string) => (await approvalState(service, id)).status
  const eventOf = async (id: string) => {
    const event = (await storedEvents(service.db.read, id)).at(-1) ?? assert.fail()
    return { ...event, data: JSON.parse(event.data) }
  }
  const one = async ({ caller, passkey }: Signer, id: string, more: Parameters<typeof sign>[3] = {}) =>
    (await sign(caller, passkey, { orders: [id] }, more))[0] ?? assert.fail()

  async function refusedSignature(
    { caller }: Signer,
    id: string,
    presented: unknown,
    detail: RegExp,
    options: Parameters<typeof decide>[3] = {},
  ) {
    const before = await approvalState(service, id)
    const answer = await decide(caller, id, presented, options)
    assertProblem(answer, 400, 'decision-signature-invalid')
    assert.match(answer.body.detail, detail)
    assert.deepEqual(await approvalState(service, id), before)
  }

  describe('counts', () => {
    for (const algorithm of ['ES256', 'EdDSA', 'RS256'] as const) {
      it(`by ${algorithm}, and the log keeps what anybody can check without the service`, async () => {
        const user = await newUser(service, { roles: ['Admin'] })
        const browser = await signIn(service, user)
        await browser.fetchAntiforgeryToken()
        const passkey = new Passkey({ algorithm })
        assert.equal((await addPasskey(browser, passkey)).status, 201)
        const id = await strictOrder()
        const [signed] = await sign(browser, passkey, { orders: [id] })
        assert.equal((await decide(browser, id, signed)).status, 204)
        const { kind, data } = await eventOf(id)
        assert.equal(kind, 'approved')
        const { salts: _, credential, ...kept } = signed ?? assert.fail()
        const { authenticatorData, clientDataJSON, signature } = credential.response
        const response = { authenticatorData, clientDataJSON, signature }
        assert.deepEqual(data.signature, { ...kept, credential: { id: credential.id, response } })
        const statement = await verifyDecision(data.signature, { kty: '', ...passkey.jwk })
        assert.deepEqual(statement.order, { id, version: 1, total: '1250.5' })
        assert.deepEqual([statement.byId, statement.forId], [user.id, null])
      })
    }

    it('forty times under one touch, each alone', async () => {
      const ids = await strictOrders(40)
      const all = await sign(ann.caller, ann.passkey, { orders: ids })
      const answers = await Promise.all(ids.map((id, index) => decide(ann.caller, id, all[index])))
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [204])
      for (const id of ids) {
        const { data } = await eventOf(id)
        assert.equal((await verifyDecision(data.signature, { kty: '', ...ann.passkey.jwk })).order.id, id)
      }
    })

    it('once, however often and at how many instances it comes at the same time', async (t) => {
      const other = await startService({ instanceOf: service, until: t })
      const callers = [ann.caller, await bearerOf(other, ann)]
      const id = await strictOrder({ approvals: 2 })
      const signed = await one(ann, id)
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, at) => decide(callers[at % 2] ?? assert.fail(), id, signed)),
      )
      const statuses = answers.map(({ status }) => status).sort()
      assert.equal(statuses.filter((status) => status === 204).length, 1)
      assert.equal((await approvalState(service, id)).approvals_given, 1)
    })

    it('with the options of one instance at another', async (t) => {
      const other = await startService({ instanceOf: service, until: t })
      const id = await strictOrder()
      const signed = await one({ ...ann, caller: await bearerOf(other, ann) }, id)
      assert.equal((await decide(ann.caller, id, signed)).status, 204)
    })

    it('of a deputy, who signs in their own name and says for whom', async () => {
      const deputy = await signer('Viewer')
      await setAbsence(service, ann, deputy)
      const id = await strictOrder()
      const signed = await one(deputy, id)
      const { byId, forId } = JSON.parse(signed.statement)
      assert.deepEqual([byId, forId], [deputy.id, ann.id])
      await refusedSignature(bo, id, signed, /another byId/)
      assertProblem(await approve(deputy.caller, id), 403, 'passkey-needed')
      assert.equal((await decide(deputy.caller, id, signed)).status, 204)
      const { data, for: absent } = await eventOf(id)
      assert.equal(absent, ann.userName)
      await verifyDecision(data.signature, { kty: '', ...deputy.passkey.jwk })
      await seal(service.db)
      const { receipt } = (await ann.caller.get(`/v1/orders/${id}/receipt`)).body
      assert.deepEqual((await judgeReceipt(receipt, [])).faults, [])

      // The deputy's own right comes first as soon as there is one.
      const next = await strictOrder()
      const early = await one(deputy, next)
      await grantRoles(service, deputy, ['Admin'])
      const caller = await bearerOf(service, deputy)
      await refusedSignature({ ...deputy, caller }, next, early, /another for/)
      assert.equal((await decide(caller, next, await one({ ...deputy, caller }, next))).status, 204)
      assert.equal((await eventOf(next)).for, null)
      await endAbsence(service, ann)

      // Where it does not suffice, the other one counts.
      const holder = await signer('Admin', await addRole(service, 'Signers', []))
      await setAbsence(service, holder, deputy)
      const last = await strictOrder({ role: 'Signers' })
      assert.equal((await decide(caller, last, await one({ ...deputy, caller }, last))).status, 204)
      assert.equal((await eventOf(last)).for, holder.userName)
    })

    it('for a rejection, whose reason can still be erased', async () => {
      const id = await strictOrder()
      const reason = 'Too dear.'
      const [signed] = await sign(ann.caller, ann.passkey, { action: 'reject', orders: [id], reason })
      assert.equal((await decide(ann.caller, id, signed, { reason })).status, 204)
      const { text, clear, hashes, data } = await eventOf(id)
      assert.deepEqual([text, JSON.parse(clear).text.salt], [reason, signed?.salts.text])
      assert.deepEqual(JSON.parse(data.signature.statement).hashes, JSON.parse(hashes))
      assert.equal('salts' in data.signature, false)
    })

    it('over the documents that the order had, in one order, and lists them when nobody signs', async () => {
      const id = await strictOrder({ approvals: 2 })
      const version = (answer: Answer) => Number(/\d+/.exec(answer.headers.get('etag') ?? ''))
      await addDocument(operator, id, 'the offer')
      const early = (await sign(ann.caller, ann.passkey, { orders: [{ id, version: 2 }] }))[0]
      const added = await addDocument(operator, id, 'the contract')
      await refusedSignature(ann, id, early, /another version/)
      const hashes = ['the offer', 'the contract'].map((text) => digestOf(Buffer.from(text))).sort()
      const bystander = await createdId(operator)
      const wanted = { orders: [bystander, { id, version: version(added) }] }
      const [other, signed] = await sign(ann.caller, ann.passkey, wanted)
      assert.deepEqual(JSON.parse(other?.statement ?? '').documents, [])
      assert.deepEqual(JSON.parse(signed?.statement ?? '').documents, hashes)
      assert.equal((await decide(ann.caller, id, signed)).status, 204)
      assert.deepEqual((await eventOf(id)).data.documents, hashes)
      assert.equal((await ann.caller.patch(`/v1/orders/${id}/reject`, { reason: 'Late.' })).status, 204)
      assert.deepEqual((await eventOf(id)).data.documents, hashes)
    })

    it('and the receipt has it, with the key and its line in the log', async () => {
      const id = await strictOrder()
      const signed = await one(ann, id)
      assert.equal((await decide(ann.caller, id, signed)).status, 204)
      await seal(service.db)
      const { receipt } = (await ann.caller.get(`/v1/orders/${id}/receipt`)).body
      const { order, receipt: shown } = await judgeReceipt(receipt, [])
      const [{ signature } = assert.fail()] = order?.approvals ?? []
      const { passkey, issuer } = signature ?? assert.fail()
      assert.deepEqual([passkey.name, issuer, passkey.accountId], ['Phone', publicUrl, String(ann.id)])
      assert.deepEqual(passkey.restedOn, { password: 'set', passwordSetBy: null })
      const kinds = shown?.lines.map(({ line }) => line.kind)
      assert.deepEqual(kinds, ['passkey-added', 'created', 'approved'])
    })

    it('and the receipt has it after the passkey was removed and added once more', async () => {
      const carl = await signer('Admin')
      const id = await strictOrder()
      assert.equal((await decide(carl.caller, id, await one(carl, id))).status, 204)
      const browser = service.client()
      await browser.post('/v1/auth/session', carl.credentials)
      await browser.fetchAntiforgeryToken()
      assert.equal((await browser.send('DELETE', `/v1/auth/passkeys/${carl.passkey.id}`)).status, 204)
      assert.equal((await addPasskey(browser, carl.passkey)).status, 201)
      await seal(service.db)
      const { receipt } = (await ann.caller.get(`/v1/orders/${id}/receipt`)).body
      const { faults, order } = await judgeReceipt(receipt, [])
      assert.deepEqual([faults, order?.approvals.length], [[], 1])
      const later = await strictOrder()
      assert.equal((await decide(browser, later, await one({ ...carl, caller: browser }, later))).status, 204)
      await seal(service.db)
      const answer = await ann.caller.get(`/v1/orders/${later}/receipt`)
      const [first, second] = [receipt, answer.body.receipt].map(
        (each) => readReceipt(each).lines.find(({ line }) => line.kind === 'passkey-added')?.line.sequence,
      )
      assert.ok(Number(first) < Number(second), `${first} ${second}`)
    })

    it('where the policy does not ask for one, too', async () => {
      const id = await strictOrder({ passkey: false })
      assert.equal((await decide(ann.caller, id, await one(ann, id))).status, 204)
      const { given } = (await ann.caller.get(`/v1/orders/${id}/approvals`)).body
      assert.deepEqual(
        given.map(({ signed }: { signed: boolean }) => signed),
        [true],
      )
    })
  })

  describe('is needed where the policy says so', () => {
    it('by everybody: session, bearer, service, also with a replayed key', async () => {
      const id = await strictOrder({ services: true })
      const browser = await signIn(service, ann)
      await browser.fetchAntiforgeryToken()
      const machine = await machineOf(service, await newClient(service, ['Admin']))
      for (const caller of [browser, ann.caller, machine]) {
        assertProblem(await approve(caller, id), 403, 'passkey-needed')
        assertProblem(await approve(caller, id, { 'idempotency-key': 'k1' }), 403, 'passkey-needed')
      }
      assertProblem(await decide(machine, id, await one(ann, id)), 403, 'passkey-needed')
      assert.equal(await statusOf(id), 0)
    })

    it('and a person without a passkey may not approve, nor prepare it', async () => {
      const id = await strictOrder()
      const user = await newUser(service, { roles: ['Admin'] })
      const caller = await bearerOf(service, user)
      const may = async (who: Client) => {
        const { passkey, mayApprove, reason } = (await who.get(`/v1/orders/${id}/approvals`)).body
        const waiting = (await who.get(`/v1/orders?filter=waits:me AND id=${id}`)).body.totalCount
        return [passkey, mayApprove, reason, waiting]
      }
      assert.deepEqual(await may(caller), [true, false, 'passkey-needed', 0])
      assert.deepEqual(await may(ann.caller), [true, true, null, 1])
      for (const order of [id, await strictOrder({ passkey: false })])
        assertProblem(await prepare(caller, { orders: [order] }), 403, 'passkey-needed')
    })
  })

  it('is prepared only if all could be made now: the answer names the first that could not', async () => {
    const [open = '', decided = ''] = await strictOrders(2)
    assert.equal((await decide(ann.caller, decided, await one(ann, decided))).status, 204)
    for (const [order, status, code] of [
      [{ id: decided, version: 2 }, 409, 'order-not-pending'],
      [{ id: decided, version: 1 }, 412, 'precondition-failed'],
      [{ id: randomUUID(), version: 1 }, 404, 'order-not-found'],
    ] as const) {
      const answer = await prepare(ann.caller, { orders: [{ id: open, version: 1 }, order] })
      assertProblem(answer, status, code)
      const [{ pointer, code: said }] = answer.body.errors
      assert.deepEqual([pointer, said], ['#/orders/1', code])
    }
  })

  it('is prepared once for each order, and names those whose id is none', async () => {
    const id = await strictOrder()
    const errorsOf = async (...ids: string[]) => {
      const orders = ids.map((each) => ({ id: each, version: 1 }))
      const { body } = await prepare(ann.caller, { orders })
      return body.errors.map(({ pointer, code }: Record<string, string>) => `${pointer} ${code}`)
    }
    assert.deepEqual(await errorsOf(id, id), ['#/orders/1/id repeated'])
    assert.deepEqual(await errorsOf('x', 'y'), ['#/orders/0/id format', '#/orders/1/id format'])
  })

  describe('counts for nothing', () => {
    const instance = interruptedInstance(service)
    it('on its own portal’s word: a statement that this service did not make', async () => {
      const id = await strictOrder()
      const answer = await prepare(ann.caller, { orders: [id] })
      const statement = JSON.parse(answer.body.statements[0])
      const forged = new Statements(randomBytes(32)).make(statement, service.now())
      for (const text of [forged, spellStatement({ ...statement, until: '2099-01-01T00:00:00.000Z' })]) {
        const [signed] = await touch(ann.passkey, { ...answer.body, statements: [text] })
        await refusedSignature(ann, id, signed, /not one of this service/)
      }
    })

    it('if any member of the statement is altered', async () => {
      const id = await strictOrder()
      const signed = await one(ann, id)
      const statement = JSON.parse(signed.statement)
      const altered = {
        typ: 'x',
        iss: 'https://other.example.com',
        action: 'reject',
        order: { ...statement.order, total: '1250.6' },
        documents: ['a'.repeat(64)],
        hashes: { ...statement.hashes, by: 'a'.repeat(64) },
        byId: 1,
        forId: 1,
        nonce: randomBytes(32).toString('base64url'),
        until: '2099-01-01T00:00:00.000Z',
      }
      for (const [name, value] of Object.entries(altered)) {
        const text = spellStatement({ ...statement, [name]: value })
        await refusedSignature(ann, id, { ...signed, statement: text }, /not one of this service/)
      }
    })

    it('if it is for another action, order, version, person or reason', async () => {
      const [id, other] = [await strictOrder(), await strictOrder()]
      const signed = await one(ann, id)
      await refusedSignature(ann, other, signed, /another order/)
      await refusedSignature(bo, id, signed, /another byId/)
      const [rejection] = await sign(ann.caller, ann.passkey, {
        action: 'reject',
        orders: [id],
        reason: 'No.',
      })
      await refusedSignature(ann, id, rejection, /another action/)
      await refusedSignature(ann, id, rejection, /another text/, { reason: 'Yes.' })
      const salts = { ...signed.salts, customer: '00'.repeat(16) }
      await refusedSignature(ann, id, { ...signed, salts }, /another customer/)
      await refusedSignature(
        ann,
        id,
        { ...signed, salts: {} },
        /another customer, another by|another by, another customer/,
      )
      const twice = await strictOrder({ approvals: 2 })
      const early = await one(ann, twice)
      assert.equal((await decide(bo.caller, twice, await one(bo, twice))).status, 204)
      await refusedSignature(ann, twice, early, /another version/)
    })

    it('if it has expired', async () => {
      const id = await strictOrder()
      const signed = await one(ann, id)
      service.advance(5 * 60_000)
      await refusedSignature(ann, id, signed, /expired/)
    })

    const manners = {
      'user verification was not done': { flags: 0x19 },
      'nobody touched it': { flags: 0x1c },
      'the origin only begins like ours': { origin: 'https://orders.example.com.evil.example' },
      'a frame of another origin asked': { crossOrigin: true },
      'it belongs to another host': { rpId: 'example.com' },
      'it was an enrolment': { type: 'webauthn.create' },
      'another challenge was signed': { challenge: randomBytes(32).toString('base64url') },
      'it names another account': { userHandle: Buffer.from('account 1').toString('base64url') },
    }
    for (const [name, manner] of Object.entries(manners)) {
      it(`if ${name}`, async () => {
        const id = await strictOrder()
        await refusedSignature(ann, id, await one(ann, id, manner), /No passkey of this account/)
      })
    }

    it('if a touch for a sign-in is shown for it, or the other way round', async () => {
      const id = await strictOrder()
      const signed = await one(ann, id)
      const credential = ann.passkey.get(await signInOptions(service))
      await refusedSignature(ann, id, { ...signed, credential }, /No passkey of this account/)
      const answer = await service.client().post('/v1/auth/session/passkey', signed)
      assertProblem(answer, 401, 'invalid-credentials')
    })

    it('if the passkey is another person’s, unknown, or was removed', async () => {
      const id = await strictOrder()
      const answer = (await prepare(ann.caller, { orders: [id] })).body
      for (const passkey of [bo.passkey, new Passkey()]) {
        const [signed] = await touch(passkey, answer)
        await refusedSignature(ann, id, signed, /No passkey of this account/)
      }
      const carl = await signer('Admin')
      const browser = await signIn(service, carl)
      await browser.fetchAntiforgeryToken()
      const signed = (await sign(browser, carl.passkey, { orders: [id] }))[0]
      assert.equal((await browser.send('DELETE', `/v1/auth/passkeys/${carl.passkey.id}`)).status, 204)
      await refusedSignature({ ...carl, caller: browser }, id, signed, /No passkey of this account/)
    })

    it('if the passkey is removed after it was looked at', async () => {
      const id = await strictOrder()
      const carl = await signer('Admin')
      const caller = await signIn(instance, carl)
      await caller.fetchAntiforgeryToken()
      const [signed] = await sign(caller, carl.passkey, { orders: [id] })
      instance.interrupt('approveOrder', async (write) => {
        assert.equal((await caller.send('DELETE', `/v1/auth/passkeys/${carl.passkey.id}`)).status, 204)
        return write()
      })
      await refusedSignature({ ...carl, caller }, id, signed, /removed meanwhile/)
    })

    it('if the counter of a key that is bound to its device did not rise', async () => {
      const carl = await signer('Admin')
      const bound = new Passkey()
      const browser = await signIn(service, carl)
      assert.equal((await addPasskey(browser, bound, { flags: 0x05 })).status, 201)
      const holder = { ...carl, passkey: bound }
      const ids = await strictOrders(2)
      const touched = await strictOrders(2)
      const [early, late, same] = [
        await one(holder, ids[0] ?? '', { counter: 4, flags: 0x05 }),
        await sign(carl.caller, bound, { orders: touched }, { counter: 5, flags: 0x05 }),
        await one(holder, ids[1] ?? '', { counter: 5, flags: 0x05 }),
      ]
      for (const [at, id] of touched.entries()) {
        assert.equal((await decide(carl.caller, id, late[at])).status, 204)
      }
      assertProblem(await decide(carl.caller, ids[0] ?? '', early), 403, 'passkey-counter')
      assertProblem(await decide(carl.caller, ids[1] ?? '', same), 403, 'passkey-counter')
      assert.deepEqual([await statusOf(ids[0] ?? ''), await statusOf(ids[1] ?? '')], [0, 0])
    })

    it('if its place in the tree does not fit', async () => {
      const [id = '', other = ''] = await strictOrders(2)
      const [signed, second] = await sign(ann.caller, ann.passkey, { orders: [id, other] })
      const places: Partial<Presented>[] = [
        { index: 1 },
        { size: 1 },
        { size: 3 },
        { index: 2 },
        { path: [] },
        { path: second?.path ?? [] },
        { path: [...(signed?.path ?? []), ...(signed?.path ?? [])] },
        { size: 2 ** 53 - 1 },
        // Not the one spelling of 32 bytes, and more than fit: nothing may be left to reject later.
        { size: 9, path: Array.from({ length: 7 }, () => `${'A'.repeat(42)}B=`) },
      ]
      for (const place of places) {
        await refusedSignature(ann, id, { ...signed, ...place }, / path does not fit|No passkey of this/)
      }
      assert.equal((await decide(ann.caller, id, signed)).status, 204)
    })

    it('in a spelling of the signature that nobody could check in the log', async () => {
      const id = await strictOrder()
      const signed = await one(ann, id)
      const { response } = signed.credential
      const der = Buffer.from(response.signature, 'base64url')
      const long = Buffer.concat([Buffer.of(0x30, 0x81), der.subarray(1)]).toString('base64url')
      const credential = { ...signed.credential, response: { ...response, signature: long } }
      await refusedSignature(ann, id, { ...signed, credential }, /another spelling/)
      assert.equal((await decide(ann.caller, id, signed)).status, 204)
    })

    it('if the header is anything else', async () => {
      const id = await strictOrder()
      const signed = await one(ann, id)
      const { credential, ...rest } = signed
      const broken = [
        null,
        [],
        {},
        rest,
        { ...signed, index: -1 },
        { ...signed, index: 2 ** 60 },
        { ...signed, path: ['x'] },
        { ...signed, path: Array.from({ length: 200 }, () => 'A'.repeat(43)) },
        { ...signed, salts: null },
        { ...signed, salts: { by: 1 } },
        // As a text each would be right.
        { ...signed, path: [[`${'A'.repeat(43)}=`]] },
        { ...signed, salts: { by: ['0'.repeat(32)] } },
        { ...signed, credential: { ...credential, id: [credential.id] } },
        { ...signed, statement: '\ud800' },
        { ...signed, credential: { ...credential, id: 'a b' } },
        { ...signed, credential: { id: credential.id } },
        JSON.parse('{"__proto__": {"statement": "x"}}'),
      ]
      for (const presented of broken) await refusedSignature(ann, id, presented, /base64url of JSON|not one/)
      for (const text of ['', 'x', '%', 'bnVsbA==', 'a'.repeat(8_193)]) {
        const answer = await approve(ann.caller, id, { 'decision-signature': text })
        assert.ok([400, 431].includes(answer.status), answer.text)
      }
      assert.equal(await statusOf(id), 0)
    })
  })

  it('says first what is wrong without it: 404, 412, 409, 403', async () => {
    const id = await strictOrder({ selfApproval: false })
    const signed = { ...(await one(ann, id)), index: 9 }
    const stale = { headers: { 'if-match': '"v9"' } }
    assertProblem(await decide(ann.caller, id.replace(/.$/, 'x'), signed), 404, 'order-not-found')
    assertProblem(await decide(ann.caller, id, signed, stale), 412, 'precondition-failed')
    const own = await createdId(ann.caller)
    assertProblem(await decide(ann.caller, own, signed), 403, 'self-approval')
    assert.equal((await decide(ann.caller, id, await one(ann, id))).status, 204)
    assertProblem(await decide(ann.caller, id, signed), 409, 'order-not-pending')
  })

  it('may take all of its 8 KiB, and no more', async () => {
    const id = await strictOrder()
    const signed = await one(ann, id)
    const room = 6_144 - JSON.stringify({ ...signed, more: '' }).length
    const filled = (length: number) => ({ ...signed, more: 'x'.repeat(length) })
    await refusedSignature(ann, id, filled(room + 1), /8192 characters at most/)
    assert.equal((await decide(ann.caller, id, filled(room))).status, 204)
  })

  it('is part of what an Idempotency-Key stands for', async () => {
    const id = await strictOrder({ approvals: 2 })
    const [signed, other] = [await one(ann, id), await one(ann, id)]
    const headers = { 'idempotency-key': 'k2' }
    const first = await decide(ann.caller, id, signed, { headers })
    // An answer that was lost can be asked for after the statement has ended, too.
    service.advance(301_000)
    const again = await decide(ann.caller, id, signed, { headers })
    assert.deepEqual([first.status, again.status], [204, 204])
    assert.equal(again.headers.get('idempotency-replayed'), 'true')
    assertProblem(await decide(ann.caller, id, other, { headers }), 422, 'idempotency-key-reused')
    assertProblem(await approve(ann.caller, id, headers), 422, 'idempotency-key-reused')
  })
})
