import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import { toBase64 } from '../../../proof/bytes.ts'
import { readProof, readVerifierKey } from '../../../proof/note.ts'
import { readOrder } from '../../../proof/order.ts'
import { type PlacedLine, readReceipt } from '../../../proof/receipt.ts'
import { judgeReceipt, verdictOf } from '../../../proof/verdict.ts'
import { signingKeysOf } from '../../../server/auth/credentials/tokens/keys.ts'
import { findOrder } from '../../../server/orders/store.ts'
import type { Answer } from '../../support/client.ts'
import { withRawDatabase } from '../../support/database.ts'
import { addDocument } from '../../support/documents.ts'
import { assertWholeTree, storedEvents } from '../../support/kept-log.ts'
import { addWaitingEvents, headOf, seal } from '../../support/log.ts'
import { createdId, insertOrders, orderRow, stamp, storedState } from '../../support/orders.ts'
import { newApprover, policyRow, putPolicy } from '../../support/policy.ts'
import { assertProblem } from '../../support/problem.ts'
import { publicUrl, type Service, setUp, startService, testService } from '../../support/service.ts'

describe('getOrderReceipt', () => {
  // Tests of other files decide orders of which the log has no line.
  const service = testService({})
  const admin = setUp(() => service.bearer('admin'))
  const operator = setUp(() => service.bearer('operator'))
  const viewer = setUp(() => service.bearer('viewer'))

  const ask = (id: string) => viewer.get(`/v1/orders/${id}/receipt`)
  /** Asks again while the service is sealing by itself. */
  async function get(id: string): Promise<Answer> {
    const answer = await ask(id)
    if (answer.body.code !== 'receipt-not-ready') return answer
    await pause(20)
    return get(id)
  }
  async function approved(values: Record<string, unknown> = {}): Promise<string> {
    const id = await createdId(operator, values)
    assert.equal((await admin.patch(`/v1/orders/${id}/approve`)).status, 204)
    return id
  }

  describe('succeeds', () => {
    it('answers a JWS of a distinct type, which the JWKS can verify and which never expires', async () => {
      const answer = await get(await approved())
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual(Object.keys(answer.body), ['receipt'])
      const { receipt } = answer.body
      const keys = createRemoteJWKSet(new URL(`${service.baseUrl}/.well-known/jwks.json`))
      const { payload, protectedHeader } = await jwtVerify(receipt, keys, {
        issuer: publicUrl,
        typ: 'countersign-receipt+jwt',
        currentDate: new Date(Date.now() + 100 * 365 * 86_400_000),
      })
      assert.equal(protectedHeader.alg, 'RS256')
      assert.deepEqual(Object.keys(payload).sort(), ['checkpoint', 'iat', 'iss', 'lines'])
    })

    it('is the lines of the log that say what was approved, by whom and when', async () => {
      const id = await approved({ customer: 'Müller & Söhne', total: '1250.5000' })
      const { lines } = readReceipt((await get(id)).body.receipt)
      const { body: page } = await admin.get(`/v1/log?subject=order:${id}`)
      assert.deepEqual(
        lines.map(({ line }) => line),
        page.items,
      )
      const order = await readOrder(lines.map(({ line }) => line))
      const { number } = (await viewer.get(`/v1/orders/${id}/approvals`)).body
      assert.partialDeepStrictEqual(order, { id, number, customer: 'Müller & Söhne', total: '1250.5' })
      assert.deepEqual(
        [order.created.by.name, order.approvals.map(({ by }) => by.name)],
        ['operator', ['admin']],
      )
      await assertWholeTree(service.db.read)
    })

    it('is valid by the key of the log alone', async () => {
      const id = await approved()
      await get(await approved())
      const { receipt } = (await get(id)).body
      const [key] = (await service.client().get('/v1/log/key')).body.keys
      const keys = [await readVerifierKey(key.verifierKey)]
      const judged = await judgeReceipt(receipt, keys)
      assert.deepEqual([verdictOf([judged]), judged.restsOn], ['valid', keys])
      const { size = 0, root = [] } = judged.vouched ?? {}
      assert.ok(size > Number(judged.order?.sequence))
      const events = await storedEvents(service.db.read)
      const lines = events.slice(0, size).map(({ hash }) => ({ hash: String(hash) }))
      assert.equal(Buffer.from(root).toString('hex'), headOf(lines).root)
      assert.equal(verdictOf([await judgeReceipt(receipt, [])]), 'not checked yet')
    })

    it('has each document that was approved, and none that was removed', async () => {
      const id = await createdId(operator)
      const [kept, removed] = [
        await addDocument(operator, id, 'kept'),
        await addDocument(operator, id, 'removed'),
      ]
      await operator.send('DELETE', `/v1/orders/${id}/documents/${removed.body.id}`)
      assert.equal((await admin.patch(`/v1/orders/${id}/approve`)).status, 204)
      const { order } = await judgeReceipt((await get(id)).body.receipt, [])
      assert.deepEqual(
        order?.documents.map(({ sha256 }) => sha256),
        [kept.body.sha256],
      )
    })

    it('is a tlog-proof for software that asks for text', async () => {
      const id = await approved()
      const receipt = readReceipt((await get(id)).body.receipt)
      const { line, proof } = receipt.lines.at(-1) ?? assert.fail()
      const path = `/v1/orders/${id}/receipt`
      const { status, text, headers } = await viewer.get(path, { accept: 'text/plain' })
      assert.deepEqual([status, headers.get('content-type')], [200, 'text/plain; charset=utf-8'])
      assert.match(headers.get('vary') ?? '', /Accept/)
      const { extra, index, path: hashes, checkpoint } = readProof(text)
      assert.deepEqual([index, checkpoint], [line.sequence - 1, receipt.checkpoint])
      assert.deepEqual(hashes.map(toBase64), proof)
      const entry = Buffer.concat([Buffer.of(0), extra ?? Buffer.of()])
      assert.equal(createHash('sha256').update(entry).digest('hex'), line.hash)
    })

    it('answers the same text each time, whatever happens later', async () => {
      const id = await approved()
      const first = await get(id)
      await operator.post(`/v1/orders/${id}/notes`, { text: 'Later.' })
      await get(await approved())
      service.advance(60_000)
      const again = await get(id.toUpperCase())
      assert.equal(again.text, first.text)
      const path = `/v1/orders/${id}/receipt`
      const cached = await viewer.get(path, { 'if-none-match': first.headers.get('etag') ?? '' })
      assert.equal(cached.status, 304)
    })

    it('answers at once, even for fifty orders approved just now', async () => {
      const ids = await Promise.all(Array.from({ length: 50 }, () => approved()))
      const answers = await Promise.all(ids.map(ask))
      const codes = answers.map(({ status, body }) => `${status} ${body.code}`)
      // If several seal at the same moment, all but one may have to ask again.
      const strays = codes.filter((code) => !['200 undefined', '503 receipt-not-ready'].includes(code))
      assert.deepEqual(strays, [])
      const again = await Promise.all(ids.map(get))
      assert.ok(again.every(({ status }) => status === 200))
      await assertWholeTree(service.db.read)
    })

    it('names everyone who approved, in the order of the log', async () => {
      await putPolicy(service, [policyRow({ approvals: 3 })])
      const id = await createdId(operator)
      const names: string[] = []
      for (let number = 0; number < 3; number += 1) {
        const { user, caller } = await newApprover(service)
        await caller.patch(`/v1/orders/${id}/approve`)
        names.push(user.userName)
      }
      await putPolicy(service, [policyRow()])
      const { order } = await judgeReceipt((await get(id)).body.receipt, [])
      assert.deepEqual(
        order?.approvals.map(({ by }) => by.name),
        names,
      )
    })

    it('has the lines as they are once a name in them was erased', async () => {
      const id = await approved()
      const first = readReceipt((await get(id)).body.receipt)
      const [
        {
          line: { sequence },
        },
      ] = first.lines as [PlacedLine]
      await service.db.write('eraseFromLog', { sequence, name: 'customer', stamp: stamp() })
      const { receipt } = (await get(id)).body
      const [{ line }] = readReceipt(receipt).lines as [PlacedLine]
      assert.deepEqual(line.clear.customer, { value: null, salt: null })
      assert.deepEqual((await judgeReceipt(receipt, [])).faults, [])
    })
  })

  describe('with another key or address', () => {
    // Two signatures of PS256 over the same text differ.
    const original = testService({ env: { SIGNING_ALGORITHM: 'PS256' } })
    const reader = setUp(() => original.bearer('admin'))
    const privateKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey

    /** The receipt of the order as another instance answers it, which has other keys or another address. */
    async function asked(id: string, changes: Partial<Pick<Service, 'keys' | 'config'>>): Promise<string> {
      const instanceOf = { ...original, ...changes }
      const other = await startService({ instanceOf, keys: instanceOf.keys })
      const admin = await other.bearer('admin')
      const { body } = await admin.get(`/v1/orders/${id}/receipt`)
      await other.close()
      return body.receipt
    }
    async function kept(): Promise<{ id: string; receipt: string }> {
      const id = await createdId(reader)
      await reader.patch(`/v1/orders/${id}/approve`)
      return { id, receipt: (await reader.get(`/v1/orders/${id}/receipt`)).body.receipt }
    }

    it('is the same text for fifty simultaneous callers', async () => {
      const id = await createdId(reader)
      await reader.patch(`/v1/orders/${id}/approve`)
      await seal(original.db)
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => reader.get(`/v1/orders/${id}/receipt`)),
      )
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
    })

    it('keeps its text for as long as the key that signed it is published', async () => {
      const { id, receipt } = await kept()
      const keys = await signingKeysOf([privateKey(), original.keys.privateKey], 'PS256')
      assert.equal(await asked(id, { keys }), receipt)
    })

    it('is signed once more when that key is no longer published, and says the same', async () => {
      const { id, receipt } = await kept()
      const keys = await signingKeysOf([privateKey()], 'PS256')
      const renewed = await asked(id, { keys })
      assert.equal(decodeProtectedHeader(renewed).kid, keys.kid)
      assert.deepEqual(readReceipt(renewed).lines, readReceipt(receipt).lines)
      assert.equal(await asked(id, { keys }), renewed)
    })

    it('is the first of two that are signed in its place at the same moment', async () => {
      const { id: orderId, receipt: former } = await kept()
      const { version } = (await findOrder(original.db.read, orderId)) ?? assert.fail()
      const keep = (receipt: string) =>
        original.db.write('keepReceipt', { orderId, receipt, former, version })
      assert.deepEqual([await keep('first'), await keep('second')], ['first', 'first'])
    })

    for (const when of ['read', 'signed']) {
      it(`is not kept if a name in it was erased while it was ${when}`, async () => {
        const id = await createdId(reader)
        await reader.patch(`/v1/orders/${id}/approve`)
        await seal(original.db)
        const [{ sequence } = assert.fail()] = await storedEvents(original.db.read, id)
        let erased = 0
        const erase = async () => {
          if (erased > 0) return
          erased = Number(sequence)
          const place = { sequence: erased, name: 'customer' }
          await original.db.write('eraseFromLog', { ...place, stamp: stamp() })
        }
        const read = original.db.read.withPlugin({
          transformQuery: ({ node }) => node,
          transformResult: async ({ result }) => {
            if (result.rows.some((row) => row.sequence === sequence)) await erase()
            return result
          },
        })
        const write = async (name: 'keepReceipt', input: never) => {
          if (name === 'keepReceipt') await erase()
          return original.db.write(name, input)
        }
        const moment = when === 'read' ? { read: { value: read } } : { write: { value: write } }
        const db = Object.create(original.db, moment)
        const other = await startService({ instanceOf: { ...original, db }, keys: original.keys })
        const { receipt } = (await (await other.bearer('admin')).get(`/v1/orders/${id}/receipt`)).body
        await other.close()
        const { receipt: stored } = await original.db.read
          .selectFrom('order_receipts')
          .select('receipt')
          .where('order_id', '=', id)
          .executeTakeFirstOrThrow()
        const values = [receipt, stored].map((jws) => readReceipt(jws).lines[0]?.line.clear.customer?.value)
        assert.deepEqual([erased > 0, values], [true, [null, null]])
      })
    }

    it('is not replaced when the log no longer shows the approval', async () => {
      const { id, receipt } = await kept()
      const { sequence } = readReceipt(receipt).lines.at(-1)?.line ?? assert.fail()
      await withRawDatabase(original.databaseUrl, (raw) =>
        raw.updateTable('events').set({ version: 0 }).where('sequence', '=', sequence).execute(),
      )
      await nextTurn()
      const answer = await reader.get(`/v1/orders/${id}/receipt`)
      assertProblem(answer, 409, 'order-not-approved')
      assert.match(answer.body.detail, /^The log does not show it: /)
    })

    it('is signed once more when the service has another address', async () => {
      const { id, receipt } = await kept()
      const config = { ...original.config, publicUrl: 'https://moved.example.com' }
      const renewed = await asked(id, { config })
      assert.deepEqual(
        [receipt, renewed].map((jws) => decodeJwt(jws).iss),
        [publicUrl, config.publicUrl],
      )
      assert.equal(await asked(id, { config }), renewed)
    })
  })

  describe('conflicts', () => {
    for (const status of [0, 2, 3]) {
      it(`answers 409 with the current status for an order of status ${status}`, async () => {
        const [row] = await insertOrders(service, [orderRow({ status })])
        const answer = await get(row?.id ?? '')
        assertProblem(answer, 409, 'order-not-approved')
        assert.equal(answer.body.currentStatus, status)
      })
    }

    it('answers 409 for an order approved behind the service’s back, which the log does not show', async () => {
      const [row] = await insertOrders(service, [orderRow({ status: 1, approvals_given: 1 })])
      const answer = await get(row?.id ?? '')
      assertProblem(answer, 409, 'order-not-approved')
      assert.equal(answer.body.detail, 'The log has no approval of this order.')
    })

    it('answers 409 while an approval is missing', async () => {
      await putPolicy(service, [policyRow({ approvals: 2 })])
      const id = await approved()
      await putPolicy(service, [policyRow()])
      const answer = await get(id)
      assertProblem(answer, 409, 'order-not-approved')
      assert.equal(answer.body.currentStatus, 0)
    })
  })

  it('answers 404 for an unknown order and a malformed id', async () => {
    for (const id of [randomUUID(), 'x', '%00', '__proto__']) {
      assertProblem(await get(id), 404, 'order-not-found')
    }
  })

  it('changes nothing except that it is kept, and that waiting events are sealed', async () => {
    const id = await approved()
    const stateBefore = await storedState(service)
    assert.equal((await get(id)).status, 200)
    assert.deepEqual(await storedState(service), stateBefore)
  })
  describe('while events wait', () => {
    // Nothing is sealed by itself here.
    const waiting = testService({ inside: true })
    const approver = setUp(() => waiting.bearer('admin'))

    it('seals 1,000 of them, and answers 503 with Retry-After if there are more', async () => {
      await seal(waiting.db)
      const codes: unknown[] = []
      for (const before of [998, 999]) {
        await addWaitingEvents(waiting, before)
        const id = await createdId(approver)
        assert.equal((await approver.patch(`/v1/orders/${id}/approve`)).status, 204)
        const { body, headers } = await approver.get(`/v1/orders/${id}/receipt`)
        codes.push(body.code, headers.get('retry-after'))
        assert.equal((await approver.get(`/v1/orders/${id}/receipt`)).status, 200)
      }
      assert.deepEqual(codes, [undefined, null, 'receipt-not-ready', '1'])
    })
  })
})
