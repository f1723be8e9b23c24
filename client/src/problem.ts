import type { Permission, ProblemCode } from './facts.ts'
import type { components } from './schema.ts'

type Schemas = components['schemas']

export type { ProblemCode }
export type FieldError = Schemas['FieldError']
export type OrderStatus = Schemas['Order']['status']

type ProblemBase = Omit<
  Schemas['Problem'],
  'code' | 'currentStatus' | 'totalCount' | 'limit' | 'permission' | 'role'
>

/** Members that only certain codes have, besides those of every problem (section 7 of the contract). */
interface Extras {
  'order-not-pending': { currentStatus: OrderStatus }
  'order-not-approved': { currentStatus: OrderStatus }
  'permission-denied': { permission: Permission }
  'result-too-large': { totalCount: number; limit: number }
  'role-needed': { role: string }
}

/** A problem of the service: a union by `code`. */
export type Problem = {
  [Code in ProblemCode]: ProblemBase & { code: Code } & (Code extends keyof Extras ? Extras[Code] : unknown)
}[ProblemCode]

/** The service refused the request: `problem` says why. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  readonly problem: Problem
  /** How long the service asks to wait before the next try. */
  readonly retryAfterMilliseconds: number | undefined

  constructor(problem: Problem, retryAfterMilliseconds: number | undefined) {
    super(`${problem.code}: ${problem.detail}`)
    this.problem = problem
    this.retryAfterMilliseconds = retryAfterMilliseconds
  }
}

/** The service did not answer: no connection, no answer in time, or an answer from something in between. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
  /** The key of a change that may have happened. Sent again with it, the change happens once. */
  readonly idempotencyKey: string | undefined

  constructor(message?: string, options: ErrorOptions & { idempotencyKey?: string | undefined } = {}) {
    super(message, options)
    this.idempotencyKey = options.idempotencyKey
  }
}

/** The problem behind a failure. Undefined if there is none, or if it has none of the given codes. */
export function problemOf<Code extends ProblemCode>(
  failure: unknown,
  ...codes: Code[]
): Extract<Problem, { code: Code }> | undefined {
  if (!(failure instanceof ProblemError)) return undefined
  const { problem } = failure
  const isWanted = codes.length === 0 || codes.some((code) => code === problem.code)
  return isWanted ? (problem as Extract<Problem, { code: Code }>) : undefined
}

/**
 * Whether the same request may succeed soon without any change. Only an operator helps a stopped log, and
 * only the end of another stream makes room for one.
 */
export function isPassing(failure: unknown): boolean {
  if (failure instanceof NoAnswerError) return true
  if (!(failure instanceof ProblemError)) return false
  const { status, code } = failure.problem
  return (
    (status === 429 && code !== 'too-many-attempts' && code !== 'too-many-streams') ||
    (status === 503 && code !== 'log-contradicted') ||
    code === 'idempotency-in-progress'
  )
}

/**
 * Whether the request may have had its effect despite the failure: there was no answer, the service failed,
 * or the same request is still running there. Any other refusal is certain.
 */
export function mayHaveHappened(failure: unknown): boolean {
  if (!(failure instanceof ProblemError)) return true
  const { status, code } = failure.problem
  return status >= 500 || code === 'idempotency-in-progress'
}

/** How long to wait before the next try: what the service asks for, or else 1 s doubling to 10 s. */
export function retryDelayMilliseconds(tries: number, failure: unknown): number {
  const asked = failure instanceof ProblemError ? failure.retryAfterMilliseconds : undefined
  return asked ?? Math.min(1000 * 2 ** tries, 10_000)
}

/** Reads a refusal. Any other body comes from a proxy or a broken service. */
export function readFailure(response: Response, body: unknown): ProblemError | NoAnswerError {
  if (!isProblem(body))
    return new NoAnswerError(`an answer ${response.status} that is not a problem document`)
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new ProblemError(body, Number.isFinite(seconds) ? seconds * 1000 : undefined)
}

function isProblem(body: unknown): body is Problem {
  return typeof body === 'object' && body !== null && 'code' in body && 'detail' in body && 'status' in body
}

/** The problem code of an answer with this status. The body can still be read afterwards. */
export async function refusalOf(answer: Response, status: number): Promise<unknown> {
  if (answer.status !== status) return undefined
  const body: unknown = await answer
    .clone()
    .json()
    .catch(() => undefined)
  return (body as { code?: unknown } | undefined)?.code
}
