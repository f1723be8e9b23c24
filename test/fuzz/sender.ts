import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Agent, type IncomingMessage, request } from 'node:http'
import { catalogue, type ProblemCode } from '../../server/problems/catalogue.ts'
import type { Answer } from '../support/client.ts'
import { Judge } from '../support/description.ts'
import { problemIn } from '../support/problem.ts'
import { publicUrl } from '../support/service.ts'

/** Several values of one name are sent as several lines. */
export type Fields = Record<string, string | string[]>

export interface Outgoing {
  method: string
  path: string
  headers?: Fields
  body?: string | Buffer
}

/**
 * Sends requests byte for byte, where `fetch` would repair them, and judges every answer: status, body and
 * headers as documented, failures from the catalogue, never a 5xx.
 */
export class Sender {
  readonly judge = new Judge(JSON.parse(readFileSync('docs/openapi.json', 'utf8')))
  readonly #agent = new Agent({ keepAlive: true })
  /** Answers by status. */
  readonly counts = new Map<number, number>()

  async send(baseUrl: string, { method, path, headers = {}, body }: Outgoing): Promise<Answer> {
    const { hostname, port } = new URL(baseUrl)
    const length = body === undefined ? 0 : Buffer.byteLength(body)
    const sent = {
      host: 'localhost',
      ...(method === 'GET' ? {} : { 'content-length': String(length) }),
      ...headers,
    }
    const answer = await new Promise<Answer>((resolve, reject) => {
      const outgoing = request(
        {
          hostname,
          port,
          method,
          path,
          headers: Object.entries(sent).flatMap(toLines),
          agent: this.#agent,
        },
        (incoming) => void readAnswer(incoming).then(resolve, reject),
      )
      outgoing.on('error', reject).end(body)
    })
    this.counts.set(answer.status, (this.counts.get(answer.status) ?? 0) + 1)
    assert.ok(answer.status < 500, `${method} ${path}: ${answer.status} ${answer.text}`)
    if (answer.status >= 400) assertOfCatalogue(answer)
    this.judge.assertDocumented(method, path, answer)
    return answer
  }

  /** `12 requests: 10 x 200, 2 x 404` */
  summary(): string {
    const sorted = [...this.counts].sort(([a], [b]) => a - b)
    const sum = sorted.reduce((total, [, count]) => total + count, 0)
    return `${sum} requests: ${sorted.map(([status, count]) => `${count} x ${status}`).join(', ')}`
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** A list of lines, so that Node neither joins nor drops any. */
function toLines([name, values]: [string, string | string[]]): string[] {
  return [values].flat().flatMap((value) => [name, value])
}

async function readAnswer(incoming: IncomingMessage): Promise<Answer> {
  const type = incoming.headers['content-type'] ?? ''
  const isStream = type.startsWith('text/event-stream')
  const chunks: Buffer[] = []
  for await (const chunk of incoming) {
    chunks.push(chunk)
    // A stream does not end. Leaving the loop ends the connection.
    if (isStream) break
  }
  const text = Buffer.concat(chunks).toString('utf8')
  const headers = new Headers()
  const { rawHeaders } = incoming
  for (let index = 0; index < rawHeaders.length; index += 2)
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '')
  return {
    status: incoming.statusCode ?? 0,
    headers,
    setCookies: incoming.headers['set-cookie'] ?? [],
    text,
    body: text === '' || isStream ? undefined : type.startsWith('text/plain') ? text : JSON.parse(text),
  }
}

/** The problem is in the catalogue, with the same text. */
function assertOfCatalogue({ status, headers, text, ...answer }: Answer): void {
  const body = problemIn(answer)
  assert.ok(Object.hasOwn(catalogue, body.code), text)
  const known = catalogue[body.code as ProblemCode]
  assert.deepEqual(
    [status, body.status, body.title, body.type, body.requestId],
    [
      known.status,
      known.status,
      known.title,
      `${publicUrl}/problems/${body.code}`,
      headers.get('x-request-id'),
    ],
    text,
  )
}
