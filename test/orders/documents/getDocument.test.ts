// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { stampBy } from '../../support/accounts.ts'
import type { Client } from '../../support/client.ts'
import { addDocument, digestOf, files } from '../../support/documents.ts'
import { createdId } from '../../support/orders.ts'
import { assertProblem } from '../../support/problem.ts'
import { setUp, testService } from '../../support/service.ts'

describe('getDocument, listDocuments and removeDocument', () => {
  const service = testService()
  const operator = setUp(() => service.bearer('operator'))
  const admin = setUp(() => service.bearer('admin'))
  const viewer = setUp(() => service.bearer('viewer'))

  async function added(bytes: Uint8Array | string, name = 'Offer.pdf') {
    const orderId = await createdId(operator)
    const { body, text } = await addDocument(operator, orderId, bytes, { name })
    assert.ok(body.id, text)
    return { orderId, id: body.id as string, path: `/v1/orders/${orderId}/documents/${body.id}` }
  }
  const read = (caller: Client, path: string, init: RequestInit = {}) =>
    fetch(`${service.baseUrl}${path}`, { ...init, headers: { ...caller.headers, ...init.headers } })

  describe('getDocument', () => {
    const shown: [what: string, bytes: Uint8Array | string, type: string, policy: RegExp, place: string][] = [
      ['a picture', files.png, 'image/png', /; sandbox$/, 'inline'],
      ['HTML', files.html, 'text/plain; charset=utf-8', /; sandbox$/, 'inline'],
      ['SVG', files.svg, 'text/plain; charset=utf-8', /; sandbox$/, 'inline'],
      ['a PDF', files.pdf, 'application/pdf', /^(?!.*sandbox)/, 'inline'],
      ['anything else', 'a\0b', 'application/octet-stream', /; sandbox$/, 'attachment'],
    ]
    for (const [what, bytes, type, policy, place] of shown) {
      it(`serves ${what} so that nothing in it can run`, async () => {
        const { path } = await added(bytes)
        const answer = await read(viewer, path)
        assert.equal(answer.status, 200)
        const { headers } = answer
        assert.equal(headers.get('content-type'), type)
        assert.equal(headers.get('x-content-type-options'), 'nosniff')
        assert.match(headers.get('content-security-policy') ?? '', policy)
        assert.match(
          headers.get('content-security-policy') ?? '',
          /^default-src 'none'; .*frame-ancestors 'self'/,
        )
        assert.ok(headers.get('content-disposition')?.startsWith(`${place}; filename="Offer.pdf"`))
        const sent = Buffer.from(bytes)
        assert.equal(headers.get('content-length'), String(sent.length))
        assert.equal(headers.get('cache-control'), 'private, no-cache')
        const digest = Buffer.from(digestOf(sent), 'hex').toString('base64')
        assert.equal(headers.get('repr-digest'), `sha-256=:${digest}:`)
        assert.deepEqual(Buffer.from(await answer.arrayBuffer()), sent)
        const etag = headers.get('etag') ?? ''
        const unchanged = await read(viewer, path, { headers: { 'if-none-match': etag } })
        assert.deepEqual([unchanged.status, await unchanged.text()], [304, ''])
      })
    }

    it('answers HEAD without reading the bytes, and keeps the connection', async () => {
      const { path } = await added(Buffer.alloc(300_000))
      const answer = await read(viewer, path, { method: 'HEAD' })
      assert.equal(answer.headers.get('content-length'), '300000')
      assert.equal(await answer.text(), '')
      assert.equal((await read(viewer, path)).status, 200)
    })

    it('names the file in full, and in ASCII', async () => {
      const { path } = await added(files.pdf, `Angebot "Müller" 100%'s (1).pdf`)
      const { headers } = await read(viewer, path)
      assert.equal(
        headers.get('content-disposition'),
        `inline; filename="Angebot _M_ller_ 100_'s (1).pdf"; filename*=UTF-8''Angebot%20%22M%C3%BCller%22%20100%25%27s%20%281%29.pdf`,
      )
    })

    it('answers 404 for a document of another order, and for what is no id', async () => {
      const [one, other] = [await added(files.pdf), await added(files.png)]
      for (const path of [
        `/v1/orders/${one.orderId}/documents/${other.id}`,
        `/v1/orders/${one.orderId}/documents/x`,
      ]) {
        assertProblem(await viewer.get(path), 404, 'document-not-found')
      }
    })
  })

  it('lists documents in pages, in the order in which they were added', async () => {
    const { orderId } = await added(files.pdf, 'a')
    await addDocument(operator, orderId, files.png, { name: 'b' })
    const names = async (query: string) => {
      const { body } = await viewer.get(`/v1/orders/${orderId}/documents${query}`)
      return [body.items.map(({ name }: { name: string }) => name), body.totalCount, body.totalPages]
    }
    assert.deepEqual(await names(''), [['a', 'b'], 2, 1])
    assert.deepEqual(await names('?pageSize=1&pageNumber=2'), [['b'], 2, 2])
    assert.deepEqual((await viewer.get(`/v1/orders/${await createdId(operator)}/documents`)).body.items, [])
    const unknown = await viewer.get('/v1/orders/019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57/documents')
    assertProblem(unknown, 404, 'order-not-found')
  })

  describe('removeDocument', () => {
    it('removes it, raises the version and leaves an event with its hash', async () => {
      const { orderId, id, path } = await added(files.pdf)
      const stale = await operator.send('DELETE', path, undefined, { 'if-match': '"1"' })
      assertProblem(stale, 412, 'precondition-failed')
      const headers = { 'if-match': '"2"', 'idempotency-key': `remove-${id}` }
      const removed = await operator.send('DELETE', path, undefined, headers)
      assert.deepEqual([removed.status, removed.headers.get('etag')], [204, '"3"'])
      const again = await operator.send('DELETE', path, undefined, headers)
      assert.equal(again.headers.get('idempotency-replayed'), 'true')
      assertProblem(await viewer.get(path), 404, 'document-not-found')
      assertProblem(await operator.send('DELETE', path), 404, 'document-not-found')
      const { items } = (await viewer.get(`/v1/orders/${orderId}/history`)).body
      assert.deepEqual([items[2].kind, items[2].version], ['document-removed', 3])
      assert.equal((await addDocument(operator, orderId, files.png)).status, 201)
    })

    it('is for the creator, until somebody has approved', async () => {
      const { orderId, path } = await added(files.pdf)
      assertProblem(await admin.send('DELETE', path), 403, 'not-the-creator')
      assertProblem(await viewer.send('DELETE', path), 403, 'permission-denied')
      await admin.patch(`/v1/orders/${orderId}/approve`)
      assertProblem(await operator.send('DELETE', path), 409, 'order-not-pending')
    })
  })

  describe('an erased document', () => {
    it('keeps its hash and its name in the list, and has no bytes', async () => {
      const { orderId, id, path } = await added(Buffer.alloc(200_000))
      const stamp = await stampBy(service, { id: 1, userName: 'admin' } as never)
      await service.db.write('eraseDocument', { orderId, id, stamp })
      assertProblem(await viewer.get(path), 410, 'document-erased')
      const [document] = (await viewer.get(`/v1/orders/${orderId}/documents`)).body.items
      assert.equal(document.erased, true)
      assert.equal(document.sha256, digestOf(Buffer.alloc(200_000)))
      const pieces = service.db.read
        .selectFrom('document_pieces')
        .select('piece')
        .where('document_id', '=', id)
      assert.deepEqual(await pieces.execute(), [])
    })
  })
})
