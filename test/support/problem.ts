import assert from 'node:assert/strict'
import type { Answer } from './client.ts'

/**
 * Asserts that the answer is this problem and nothing else (RFC 9457): status, media type, type, code,
 * request id.
 */
export function assertProblem(answer: Answer, status: number, code: string): void {
  assert.deepEqual(
    { status: answer.status, code: answer.body?.code },
    { status, code },
    `${answer.status} ${answer.text}`,
  )
  assert.equal(answer.headers.get('content-type'), 'application/problem+json')
  assert.equal(answer.body.status, status)
  assert.match(answer.body.type, new RegExp(`^https?://[^/]+/problems/${code}$`))
  assert.equal(answer.body.requestId, answer.headers.get('x-request-id'))
}

/** The problem of an answer: JSON-RPC carries it as the data of its error. */
export function problemIn({ body }: Pick<Answer, 'body'>) {
  return body?.error?.data ?? body
}

/** The answer names exactly these places of the body as wrong. */
export function assertInvalid(answer: Answer, pointers: readonly string[]): void {
  assertProblem(answer, 400, 'validation-failed')
  const named = answer.body.errors.map((error: { pointer: string }) => error.pointer)
  assert.deepEqual(named, pointers)
}

/** The answer names exactly these places of the body as wrong, each with the code of the broken rule. */
export function assertFaults(answer: Answer, places: Record<string, string>): void {
  assertProblem(answer, 400, 'validation-failed')
  const named = answer.body.errors.map(({ pointer, code }: Record<string, string>) => [pointer, code])
  assert.deepEqual(named.toSorted(), Object.entries(places).toSorted())
}

/** One answer has the status, and all others are this problem. */
export function assertOneOf(answers: Answer[], status: number, refused: number, code: string): void {
  const others = answers.filter((answer) => answer.status !== status)
  assert.equal(others.length, answers.length - 1)
  for (const answer of others) assertProblem(answer, refused, code)
}

/** The parts that two refusals must share so that a caller cannot tell their causes apart. */
export function visibleParts({ status, headers, setCookies, body }: Answer): unknown {
  const { requestId: _, ...rest } = body
  const names = [...headers.keys()].sort()
  return { status, names, challenge: headers.get('www-authenticate'), setCookies, body: rest }
}
