import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { machineOf, newCaller, newClient } from '../../support/accounts.ts'
import type { Client } from '../../support/client.ts'
import { addDocument, documentLimitBytes, files, storedDocuments } from '../../support/documents.ts'
import { createdId, sendExactly, storedState } from '../../support/orders.ts'
import { approve, newApprover, policyRow, putPolicy, putsPolicyBack } from '../../support/policy.ts'
import { assertProblem } from '../../support/problem.ts'
import { setUp, testService } from '../../support/service.ts'

/** Types that a sender may claim, each of which a browser would run or read as something else. */
const claimed = [
  'text/html',
  'application/xhtml+xml',
  'image/svg+xml',
  'text/xml',
  'application/javascript',
  'application/pdf',
  'image/png',
  'text/plain; charset=utf-7',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
]
const polyglots: Record<string, [bytes: Buffer, mediaType: string]> = {
  HTML: [files.html, 'text/plain'],
  SVG: [files.svg, 'text/plain'],
  'a PNG that is a page': [Buffer.concat([files.png, files.html]), 'image/png'],
  'a PDF that is a page': [Buffer.concat([files.pdf, files.html]), 'application/pdf'],
}

/** Names as they are sent in the query. */
const names: Record<string, string> = {
  'a path': 'name=..%2F..%2Fetc%2Fpasswd',
  'a path of Windows': 'name=C%3A%5Cboot.ini',
  'text that is reversed': 'name=a%E2%80%AEfdp.exe',
  'text in an isolate': 'name=a%E2%81%A7fdp.exe%E2%81%A9',
  'a line feed': 'name=a%0Ab',
  'a carriage return': 'name=a%0D%0ASet-Cookie%3A%20x%3D1',
  'a tab': 'name=a%09b',
  'a NUL': 'name=a%00.pdf',
  'half a letter': 'name=M%C3',
  'an overlong slash': 'name=a%C0%AFb',
  'a surrogate': 'name=%ED%A0%80',
  'nothing in it': 'name=',
  'a second name': 'name=a&name=b',
}

describe('a hostile document', () => {
  const service = testService()
  putsPolicyBack(service)
  const operator = setUp(() => service.bearer('operator'))
  const admin = setUp(() => service.bearer('admin'))

  const everything = async () => {
    const { documents, pieces, leftovers } = await storedDocuments(service)
    return { ...(await storedState(service)), documents, pieces, leftovers }
  }
  /** Nothing of it is stored, not even in part. */
  async function leavesNothing(send: () => Promise<unknown>): Promise<void> {
    const before = await everything()
    await send()
    assert.deepEqual(await everything(), before)
  }

  for (const [what, [bytes, mediaType]] of Object.entries(polyglots)) {
    for (const type of claimed) {
      it(`that is ${what}, sent as ${type}, is served as ${mediaType} and can run nothing`, async () => {
        const orderId = await createdId(operator)
        const { body, text } = await addDocument(operator, orderId, bytes, {
          'content-type': type,
          name: 'x.html',
        })
        assert.ok(body.id, text)
        const read = await operator.get(`/v1/orders/${orderId}/documents/${body.id}`)
        assert.equal(read.headers.get('content-type')?.split(';')[0], mediaType)
        assert.equal(read.headers.get('x-content-type-options'), 'nosniff')
        const policy = read.headers.get('content-security-policy') ?? ''
        assert.match(policy, mediaType === 'application/pdf' ? /^default-src 'none'; / : /; sandbox$/)
        assert.doesNotMatch(policy, /script|unsafe-eval/)
      })
    }
  }

  for (const [what, query] of Object.entries(names)) {
    it(`with a name that has ${what} is refused`, async () => {
      const orderId = await createdId(operator)
      await leavesNothing(async () => {
        const path = `/v1/orders/${orderId}/documents?${query}`
        const answer = await sendExactly(operator, 'POST', path, ['Content-Type: application/pdf'], 'text')
        assert.equal(answer.status, 400, answer.text)
        assert.match(answer.body.code, /^(?:validation-failed|unknown-parameter|bad-request)$/)
      })
    })
  }

  describe('is refused, and nothing of it is kept,', () => {
    const half = async () => {
      await putPolicy(service, [policyRow({ approvals: 2 })])
      const orderId = await createdId(operator)
      assert.equal((await approve((await newApprover(service)).caller, orderId)).status, 204)
      return orderId
    }
    const stranger = () => newCaller(service, ['Operator'])
    const machine = async () => machineOf(service, await newClient(service, ['Operator']))
    const refused: Record<
      string,
      [
        status: number,
        code: string,
        order: () => Promise<string>,
        headers?: object,
        caller?: () => Promise<Client>,
      ]
    > = {
      'after the first of two approvals': [409, 'already-approved', half],
      'after the last approval': [
        409,
        'order-not-pending',
        async () => {
          await putPolicy(service, [policyRow()])
          const orderId = await createdId(operator)
          assert.equal((await approve(admin, orderId)).status, 204)
          return orderId
        },
      ],
      'with a version of yesterday': [
        412,
        'precondition-failed',
        () => createdId(operator),
        { 'if-match': '"7"' },
      ],
      'by another creator': [403, 'not-the-creator', () => createdId(operator), {}, stranger],
      'by an approver': [403, 'not-the-creator', () => createdId(operator), {}, async () => admin],
      'by a service of nobody': [403, 'not-the-creator', () => createdId(operator), {}, machine],
      'for no existing order': [404, 'order-not-found', async () => '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57'],
    }
    for (const [when, [status, code, order, headers = {}, caller]] of Object.entries(refused)) {
      it(when, async () => {
        const [orderId, sender] = [await order(), (await caller?.()) ?? operator]
        await leavesNothing(async () => {
          assertProblem(
            await addDocument(sender, orderId, Buffer.alloc(200_000), { ...headers }),
            status,
            code,
          )
        })
      })
    }

    it('with one byte too many, however it is sent', async () => {
      const orderId = await createdId(operator)
      await leavesNothing(async () => {
        const large = Buffer.alloc(documentLimitBytes + 1)
        assertProblem(await addDocument(operator, orderId, large), 413, 'body-too-large')
      })
    })

    for (const [what, head, body] of [
      ['a length that is not reached', 'Content-Length: 100000', 'x'.repeat(50)],
      ['chunks without an end', 'Transfer-Encoding: chunked', '5\r\nhello\r\n'],
      ['a chunk that is no chunk', 'Transfer-Encoding: chunked', 'zz\r\nhello\r\n0\r\n\r\n'],
      ['two lengths', 'Content-Length: 5\r\nContent-Length: 6', 'hello!'],
      ['a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked', '5\r\nhello\r\n0\r\n\r\n'],
    ] as const) {
      it(`with ${what}`, async () => {
        const orderId = await createdId(operator)
        const { hostname, port } = new URL(service.baseUrl)
        await leavesNothing(async () => {
          const socket = connect(Number(port), hostname)
          const { authorization } = operator.headers
          socket.end(
            `POST /v1/orders/${orderId}/documents?name=x HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: ${authorization}\r\n${head}\r\n\r\n${body}`,
          )
          let answer = ''
          for await (const chunk of socket) answer += chunk
          assert.doesNotMatch(answer, /^HTTP\/1\.1 2/)
        })
      })
    }
  })
})
