// engine: both
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { bearerOf, machineOf, newCaller, newClient, newUser } from '../../support/accounts.ts'
import type { Answer } from '../../support/client.ts'
import { withRawDatabase } from '../../support/database.ts'
import { addDocument, digestOf, documentLimitBytes, files, storedDocuments } from '../../support/documents.ts'
import { createdId, storedState } from '../../support/orders.ts'
import { assertFaults, assertProblem } from '../../support/problem.ts'
import { setUp, testService } from '../../support/service.ts'
import { removeExpired } from '../../support/upkeep.ts'

describe('addDocument', () => {
  const service = testService()
  const operator = setUp(() => service.bearer('operator'))
  const admin = setUp(() => service.bearer('admin'))

  const listed = async (orderId: string) =>
    (await operator.get(`/v1/orders/${orderId}/documents`)).body.items as Record<string, unknown>[]
  const pathOf = (orderId: string, name = 'x') => `/v1/orders/${orderId}/documents?name=${name}`
  const versionOf = async (orderId: string) =>
    (await operator.get(`/v1/orders/${orderId}`)).headers.get('etag')

  /** A request whose body the test sends piece by piece. */
  function sendSlowly(path: string, headers: Record<string, string>) {
    const { authorization = '' } = operator.headers
    const sent = request(new URL(path, service.baseUrl), {
      method: 'POST',
      headers: { authorization, ...headers },
    })
    const answered = new Promise<{ status: number | undefined; body: { code?: string } }>(
      (resolve, reject) => {
        sent.on('error', reject)
        sent.on('response', async (answer) => {
          const chunks: Buffer[] = []
          for await (const chunk of answer) chunks.push(chunk)
          resolve({ status: answer.statusCode, body: JSON.parse(Buffer.concat(chunks).toString()) })
        })
      },
    )
    return { sent, answered }
  }

  describe('succeeds', () => {
    it('keeps the bytes, raises the version, and leaves an event that has their hash', async () => {
      const orderId = await createdId(operator)
      const bytes = Buffer.concat([files.pdf, Buffer.alloc(200_000, 7)])
      const answer = await addDocument(operator, orderId, bytes, { name: ' Offer 4711.pdf ' })
      assert.equal(answer.status, 201, answer.text)
      const { id } = answer.body
      assert.deepEqual(answer.body, { id, sha256: digestOf(bytes) })
      assert.equal(answer.headers.get('location'), `/v1/orders/${orderId}/documents/${id}`)
      assert.equal(answer.headers.get('etag'), '"2"')
      assert.equal(await versionOf(orderId), '"2"')
      const [document] = await listed(orderId)
      assert.deepEqual(document, {
        id,
        name: 'Offer 4711.pdf',
        mediaType: 'application/pdf',
        size: bytes.length,
        sha256: digestOf(bytes),
        addedAtUtc: document?.addedAtUtc,
        by: 'operator',
        erased: false,
      })
      const events = (await operator.get(`/v1/orders/${orderId}/history`)).body.items
      const { kind, version, text, document: added } = events[1]
      assert.deepEqual([kind, version, text, events[0].document], ['document-added', 2, null, null])
      const { name, mediaType, size, sha256 } = document ?? {}
      assert.deepEqual(added, { id, name, mediaType, size, sha256 })
    })

    const sizes = [1, 65_535, 65_536, 65_537, documentLimitBytes - 1, documentLimitBytes]
    for (const size of sizes) {
      it(`keeps a document of ${size} bytes whole`, async () => {
        const orderId = await createdId(operator)
        const bytes = Buffer.alloc(size, size % 251)
        const { body, status, text } = await addDocument(operator, orderId, bytes)
        assert.equal(status, 201, text)
        const read = await fetch(`${service.baseUrl}/v1/orders/${orderId}/documents/${body.id}`, {
          headers: operator.headers,
        })
        assert.equal(digestOf(new Uint8Array(await read.arrayBuffer())), digestOf(bytes))
      })
    }

    it('takes a body without a length, of any type, even a malformed one', async () => {
      for (const type of ['text/html', 'application/json', 'multipart/form-data', '; nonsense', '']) {
        const orderId = await createdId(operator)
        const { sent, answered } = sendSlowly(pathOf(orderId), {
          'content-type': type,
          'transfer-encoding': 'chunked',
        })
        sent.end(files.png)
        assert.equal((await answered).status, 201, type)
        assert.equal((await listed(orderId))[0]?.mediaType, 'image/png')
      }
    })

    it('gives the same answer to a repeated request, also when the order has moved on', async () => {
      const orderId = await createdId(operator)
      const headers = { 'idempotency-key': `repeat-${orderId}`, 'if-match': '"1"' }
      const first = await addDocument(operator, orderId, files.pdf, headers)
      await admin.patch(`/v1/orders/${orderId}/approve`)
      const before = await storedDocuments(service)
      const again = await addDocument(operator, orderId, files.pdf, headers)
      assert.deepEqual([again.status, again.body], [201, first.body])
      assert.equal(again.headers.get('idempotency-replayed'), 'true')
      assert.deepEqual(await storedDocuments(service), before)
      for (const [bytes, name] of [
        [files.png, 'Offer.pdf'],
        [files.pdf, 'Other.pdf'],
      ] as const) {
        const other = await addDocument(operator, orderId, bytes, { ...headers, name })
        assertProblem(other, 422, 'idempotency-key-reused')
      }
    })

    it('takes documents from the owner of the client that created the order, and from nobody else', async () => {
      const owner = await newUser(service)
      const client = await newClient(service, ['Operator'], owner.id)
      const machine = await machineOf(service, client)
      const orderId = await createdId(machine)
      const added = await addDocument(await bearerOf(service, owner), orderId, files.pdf)
      assert.equal(added.status, 201, added.text)
      assert.equal((await addDocument(machine, orderId, files.pdf)).status, 201)
      for (const other of [operator, admin, await newCaller(service, ['Operator'])]) {
        assertProblem(await addDocument(other, orderId, files.pdf), 403, 'not-the-creator')
      }
      const viewer = await service.bearer('viewer')
      assertProblem(await addDocument(viewer, orderId, files.pdf), 403, 'permission-denied')
    })
  })

  describe('goes by the bytes', () => {
    const types: [what: string, bytes: Buffer | string, type: string][] = [
      ['a PDF', files.pdf, 'application/pdf'],
      ['a PNG', files.png, 'image/png'],
      ['a JPEG', files.jpeg, 'image/jpeg'],
      ['a WebP', files.webp, 'image/webp'],
      ['HTML', files.html, 'text/plain'],
      ['SVG', files.svg, 'text/plain'],
      ['XHTML with a PDF behind it', Buffer.concat([files.html, files.pdf]), 'application/octet-stream'],
      ['a PDF with HTML behind it', Buffer.concat([files.pdf, files.html]), 'application/pdf'],
      ['a PNG with HTML behind it', Buffer.concat([files.png, files.html]), 'image/png'],
      ['a JPEG with a ZIP behind it', Buffer.concat([files.jpeg, Buffer.from('PK\x03\x04')]), 'image/jpeg'],
      ['a PDF after one space', Buffer.concat([Buffer.from(' '), files.pdf]), 'application/octet-stream'],
      ['RIFF that is no WebP', Buffer.from('RIFF\x1a\0\0\0WAVEfmt '), 'application/octet-stream'],
      ['WEBP without RIFF', Buffer.from('XXXX\x1a\0\0\0WEBPVP8L'), 'application/octet-stream'],
      ['a GIF with a script', Buffer.from('GIF89a/*\0*/=1;alert(1)'), 'application/octet-stream'],
      ['UTF-16 HTML', Buffer.from('\ufeff<script>', 'utf16le'), 'application/octet-stream'],
      ['HTML in UTF-7', '+ADw-script+AD4-', 'text/plain'],
      ['text with a NUL', 'a\0b', 'application/octet-stream'],
      ['text with an escape sequence', '\x1b[31mred', 'application/octet-stream'],
      ['text with a C1 control', 'a\u0085b', 'application/octet-stream'],
      ['Latin-1', Buffer.from('Müller', 'latin1'), 'application/octet-stream'],
      ['UTF-8 that is cut', Buffer.from('Müller').subarray(0, 2), 'application/octet-stream'],
      ['text with tabs and line breaks', 'a\tb\r\nc', 'text/plain'],
      ['a script', '#!/bin/sh\nrm -rf /\n', 'text/plain'],
      ['an archive', Buffer.from('PK\x03\x04\x14\0'), 'application/octet-stream'],
      ['text whose only control is in its last piece', `${'ä'.repeat(40_000)}\0`, 'application/octet-stream'],
      ['text with a letter across two pieces', `x${'ä'.repeat(40_000)}`, 'text/plain'],
    ]
    for (const [what, bytes, type] of types) {
      it(`keeps ${what} as ${type}, whatever it is called`, async () => {
        const orderId = await createdId(operator)
        const headers = { 'content-type': 'text/html', name: 'index.html' }
        const { status, text } = await addDocument(operator, orderId, bytes, headers)
        assert.equal(status, 201, text)
        assert.equal((await listed(orderId))[0]?.mediaType, type)
      })
    }
  })

  describe('rejects input', () => {
    const names: [what: string, name: string, code: string][] = [
      ['a path', '../../etc/passwd', 'characters'],
      ['a path of Windows', '..\\boot.ini', 'characters'],
      ['a line break', 'a\nSet-Cookie: x=1', 'characters'],
      ['a NUL', 'a\0.pdf', 'characters'],
      ['a character that reverses the rest', 'invoice\u202efdp.exe', 'characters'],
      ['white space only', ' \u00a0 ', 'length'],
      ['nothing to see', '\u200b', 'characters'],
      ['121 characters', 'x'.repeat(121), 'length'],
    ]
    for (const [what, name, code] of names) {
      it(`refuses a name with ${what}`, async () => {
        const orderId = await createdId(operator)
        const answer = await addDocument(operator, orderId, files.pdf, { name })
        assertProblem(answer, 400, 'validation-failed')
        assert.deepEqual(
          answer.body.errors.map((error: Record<string, string>) => [error.parameter, error.code]),
          [['name', code]],
        )
      })
    }

    it('refuses a missing name, no bytes, and an encoding', async () => {
      const orderId = await createdId(operator)
      const unnamed = await operator.post(`/v1/orders/${orderId}/documents`, files.pdf)
      assertProblem(unnamed, 400, 'validation-failed')
      assertFaults(await operator.post(pathOf(orderId)), { '#': 'length' })
      const { sent, answered } = sendSlowly(pathOf(orderId), { 'transfer-encoding': 'chunked' })
      sent.end()
      assert.equal((await answered).status, 400)
      const encoded = await addDocument(operator, orderId, files.pdf, { 'content-encoding': 'gzip' })
      assertProblem(encoded, 415, 'unsupported-media-type')
    })

    it('refuses more than 5 MiB, before reading it if its length says so', async () => {
      const orderId = await createdId(operator)
      const large = Buffer.alloc(documentLimitBytes + 1)
      assertProblem(await addDocument(operator, orderId, large), 413, 'body-too-large')
      const announced = sendSlowly(pathOf(orderId), { 'content-length': String(documentLimitBytes + 1) })
      announced.sent.flushHeaders()
      assert.equal((await announced.answered).status, 413)
      announced.sent.destroy()
      const before = await storedDocuments(service)
      const chunked = sendSlowly(pathOf(orderId), { 'transfer-encoding': 'chunked' })
      chunked.sent.on('error', () => undefined)
      chunked.sent.end(large)
      assert.equal((await chunked.answered).status, 413)
      const after = await storedDocuments(service)
      assert.deepEqual(after.documents, before.documents)
      assert.equal(await versionOf(orderId), '"1"')
    })
  })

  describe('judges before it reads the body', () => {
    /** The answer to a request whose body never comes. */
    async function refusal(orderId: string, headers: Record<string, string> = {}) {
      const { sent, answered } = sendSlowly(pathOf(orderId), { 'content-length': '100', ...headers })
      sent.flushHeaders()
      const { status, body } = await answered
      sent.destroy()
      return [status, body.code]
    }

    it('404, 412, 403 and 409', async () => {
      assert.deepEqual(await refusal('019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57'), [404, 'order-not-found'])
      const own = await createdId(operator)
      assert.deepEqual(await refusal(own, { 'if-match': '"9"' }), [412, 'precondition-failed'])
      assert.deepEqual(await refusal(await createdId(admin)), [403, 'not-the-creator'])
      await admin.patch(`/v1/orders/${own}/approve`)
      assert.deepEqual(await refusal(own), [409, 'order-not-pending'])
      const full = await createdId(operator)
      for (let index = 0; index < 5; index += 1) {
        assert.equal((await addDocument(operator, full, files.pdf)).status, 201)
      }
      assert.deepEqual(await refusal(full), [409, 'too-many-documents'])
    })

    it('holds back `100 Continue` until then', async () => {
      const orderId = await createdId(operator)
      const { sent, answered } = sendSlowly(pathOf(orderId), {
        expect: '100-continue',
        'content-length': String(files.pdf.length),
      })
      await new Promise((resolve) => sent.once('continue', resolve))
      sent.end(files.pdf)
      assert.equal((await answered).status, 201)
      const refused = sendSlowly(pathOf(orderId), {
        expect: '100-continue',
        'content-length': '100',
        'if-match': '"9"',
      })
      refused.sent.once('continue', () => assert.fail('asked for the body'))
      refused.sent.flushHeaders()
      assert.equal((await refused.answered).status, 412)
      refused.sent.destroy()
    })
  })

  describe('leaves nothing half-stored', () => {
    it('judges again in the last transaction', async () => {
      const orderId = await createdId(operator)
      const known = await unfinished()
      const { sent, answered } = sendSlowly(pathOf(orderId), { 'content-length': '100000' })
      sent.write(Buffer.alloc(70_000))
      await firstPiece(answered, known)
      assert.equal((await admin.patch(`/v1/orders/${orderId}/approve`)).status, 204)
      const before = await storedState(service)
      sent.end(Buffer.alloc(30_000))
      const { status, body } = await answered
      assert.deepEqual([status, body.code], [409, 'order-not-pending'])
      assert.deepEqual(await storedState(service), before)
      assert.deepEqual(await listed(orderId), [])
    })

    it('beyond the bytes of an hour, which the sender may have used up at another instance', async () => {
      const caller = await newCaller(service, ['Operator'])
      const orderId = await createdId(caller)
      const { id } = (await addDocument(caller, orderId, files.pdf)).body
      // This instance knows of the others by the database only.
      const size = service.config.documentBytesPerHour
      await withRawDatabase(service.databaseUrl, (raw) =>
        raw.updateTable('order_documents').set({ size }).where('id', '=', id).execute(),
      )
      const refused = await addDocument(caller, orderId, files.pdf)
      assertProblem(refused, 429, 'rate-limited')
      assert.match(refused.headers.get('retry-after') ?? '', /^(3600|35\d\d)$/)
      assert.equal(await versionOf(orderId), '"2"')
      // As if a clock had been ahead.
      await withRawDatabase(service.databaseUrl, (raw) =>
        raw
          .updateTable('order_documents')
          .set({ added_at: service.now() + 120_000 })
          .where('id', '=', id)
          .execute(),
      )
      assert.equal((await addDocument(caller, orderId, files.pdf)).status, 201)
    })

    it('when the sender breaks off, and deletes what came after an hour', async () => {
      const orderId = await createdId(operator)
      const known = await unfinished()
      const { sent, answered } = sendSlowly(pathOf(orderId), { 'content-length': '100000' })
      answered.catch(() => undefined)
      sent.write(Buffer.alloc(70_000))
      await firstPiece(answered, known)
      sent.destroy()
      assert.deepEqual(await listed(orderId), [])
      assert.equal(await versionOf(orderId), '"1"')
      while ((await removeExpired(service, 100)) >= 100);
      assert.notDeepEqual((await storedDocuments(service)).leftovers, [])
      service.advance(3_601_000)
      for (let round = 0; round < 20; round += 1) await removeExpired(service, 100)
      const { leftovers, pieces, documents } = await storedDocuments(service)
      assert.deepEqual(leftovers, [])
      const kept = new Set(documents.map(({ id }) => id))
      assert.ok(pieces.every(({ document_id }) => kept.has(document_id)))
    })

    it('of two at once with one If-Match, one wins', async () => {
      const fresh = await service.bearer('operator')
      const orderId = await createdId(fresh)
      const send = () => addDocument(fresh, orderId, files.pdf, { 'if-match': '"1"' })
      const answers = await Promise.all([send(), send(), send()])
      assert.deepEqual(answers.map(({ status }: Answer) => status).toSorted(), [201, 412, 412])
      assert.equal((await fresh.get(`/v1/orders/${orderId}/documents`)).body.totalCount, 1)
    })

    it('never more than five, however many are sent at once', async () => {
      const fresh = await service.bearer('operator')
      const orderId = await createdId(fresh)
      const answers = await Promise.all(
        Array.from({ length: 9 }, () => addDocument(fresh, orderId, files.pdf)),
      )
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [
        ...Array(5).fill(201),
        ...Array(4).fill(409),
      ])
    })

    for (const [passed, status] of [
      [600_000, 201],
      [3_601_000, 503],
    ] as const) {
      it(`judges by the time of the last byte, ${passed / 1_000} s after the first: ${status}`, async () => {
        const fresh = await service.bearer('operator')
        const orderId = await createdId(fresh)
        const { authorization = '' } = fresh.headers
        const known = await unfinished()
        const slow = sendSlowly(pathOf(orderId), { authorization, 'content-length': '100000' })
        slow.sent.write(Buffer.alloc(70_000))
        await firstPiece(slow.answered, known)
        service.advance(passed)
        const added = service.now()
        slow.sent.end(Buffer.alloc(30_000))
        assert.equal((await slow.answered).status, status)
        const reader = await service.bearer('viewer')
        const { items } = (await reader.get(`/v1/orders/${orderId}/documents`)).body
        const { updatedAtUtc } = (await reader.get(`/v1/orders/${orderId}`)).body
        const times = [...items.map(({ addedAtUtc }: { addedAtUtc: string }) => addedAtUtc), updatedAtUtc]
        const expected = status === 201 ? Array(2).fill(new Date(added).toISOString()) : [null]
        assert.deepEqual(times, expected)
      })
    }

    it('lists a document that began earlier and ended later behind the other', async () => {
      const fresh = await service.bearer('operator')
      const orderId = await createdId(fresh)
      const { authorization = '' } = fresh.headers
      const known = await unfinished()
      const slow = sendSlowly(pathOf(orderId, 'slow'), { authorization, 'content-length': '100000' })
      slow.sent.write(Buffer.alloc(70_000))
      await firstPiece(slow.answered, known)
      service.advance(1_000)
      await addDocument(fresh, orderId, files.pdf, { name: 'fast' })
      service.advance(1_000)
      slow.sent.end(Buffer.alloc(30_000))
      assert.equal((await slow.answered).status, 201)
      const { items } = (await fresh.get(`/v1/orders/${orderId}/documents`)).body
      assert.deepEqual(
        items.map(({ name }: { name: string }) => name),
        ['fast', 'slow'],
      )
    })

    const unfinished = async () => (await storedDocuments(service)).leftovers.map(({ id }) => id)

    /** Waits until a piece of another unfinished document is stored. */
    async function firstPiece(answered: Promise<unknown>, known: readonly string[]): Promise<void> {
      let isAnswered = false
      const note = () => {
        isAnswered = true
      }
      answered.then(note, note)
      for (;;) {
        if ((await unfinished()).some((id) => !known.includes(id))) return
        assert.ok(!isAnswered, 'it was answered early')
        await setTimeout(5)
      }
    }
  })
})
