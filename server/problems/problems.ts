/**
 * Every failure is a problem of the one catalogue: it is thrown anywhere, and `http/errors.ts` answers it as
 * `application/problem+json`.
 */
import type { RefusalCodec } from '../db/errors.ts'
import { catalogue, type ProblemCode } from './catalogue.ts'

/** Where and how one value broke a rule. Exactly one of `pointer`, `parameter` and `header` is given. */
export interface FieldError {
  /** JSON pointer as a URI fragment, such as `#/total`. */
  pointer?: string
  parameter?: string
  header?: string
  code: string
  detail: string
  /**
   * In a filter: where the faulty part starts and its length, in UTF-16 units, what could be there instead,
   * and what was probably meant.
   */
  position?: number
  length?: number
  expected?: readonly string[]
  suggestion?: string
}

export interface ProblemOptions {
  /** Public: shown to the caller. */
  detail?: string
  errors?: FieldError[]
  /** Further public members, such as `currentStatus`. */
  members?: Record<string, unknown>
  headers?: Record<string, string>
  /** Only logged: it never leaves the process. */
  cause?: unknown
}

/** The one way to fail (RFC 9457). */
export class Problem extends Error {
  override name = 'Problem'
  readonly code: ProblemCode
  readonly errors: FieldError[] | undefined
  readonly members: Record<string, unknown>
  readonly headers: Record<string, string>
  readonly detail: string | undefined

  constructor(code: ProblemCode, options: ProblemOptions = {}) {
    super(options.detail ?? catalogue[code].title, { cause: options.cause })
    this.code = code
    this.detail = options.detail
    this.errors = options.errors
    this.members = options.members ?? {}
    this.headers = options.headers ?? {}
  }

  get status(): number {
    return catalogue[this.code].status
  }
}

type PlainProblem = Pick<Problem, 'code' | 'detail' | 'errors' | 'members' | 'headers'>

/** How a Problem of a write operation leaves the writer thread (without its cause). */
export const problemCodec: RefusalCodec = {
  toPlain(error) {
    if (!(error instanceof Problem)) return undefined
    const { code, detail, errors, members, headers } = error
    return { code, detail, errors, members, headers } satisfies PlainProblem
  },
  fromPlain(plain) {
    const { code, detail, errors, members, headers } = plain as PlainProblem
    return new Problem(code, {
      members,
      headers,
      ...(detail === undefined ? {} : { detail }),
      ...(errors === undefined ? {} : { errors }),
    })
  },
}

/** `Retry-After` in whole seconds, at least one (RFC 9110 §10.2.3). */
export function retryAfter(milliseconds: number): Record<string, string> {
  return { 'retry-after': String(Math.max(1, Math.ceil(milliseconds / 1000))) }
}

/** Every 401 carries it (RFC 9110 §11.6.1). */
export const bearerChallenge = 'Bearer realm="countersign"'
