import type { RefusalCodec } from '../db/errors.ts'

/**
 * Every failure of the service, including the framework's own (RFC 9457). `title` is the same for every
 * occurrence; `remedy` says what a caller can do. docs/problems.md is generated from it.
 */
export const catalogue = {
  'malformed-json': {
    status: 400,
    title: 'The body is not valid JSON',
    remedy: 'Send one JSON value in UTF-8, without `__proto__` or `constructor` as a key.',
  },
  'validation-failed': {
    status: 400,
    title: 'Some fields are invalid',
    remedy: 'Correct every field that `errors` lists; each entry says where it is and which rule it broke.',
  },
  'invalid-filter': {
    status: 400,
    title: 'The filter cannot be understood',
    remedy: 'Look at `errors[0].position` in the filter text; `expected` lists what could stand there.',
  },
  'filter-too-expensive': {
    status: 400,
    title: 'The list took too long and was stopped',
    remedy: 'Narrow the filter: a status, a range of dates or a longer word.',
  },
  'result-too-large': {
    status: 400,
    title: 'Too many matches for an unpaged list',
    remedy: 'Use paging, or narrow the filter until `totalCount` is at most `limit`.',
  },
  'invalid-time-zone': {
    status: 400,
    title: 'The Time-Zone header is not a known time zone',
    remedy: 'Send an IANA name such as `Europe/Berlin`, or leave the header out.',
  },
  'invalid-idempotency-key': {
    status: 400,
    title: 'The Idempotency-Key header is malformed',
    remedy: 'Send one key of 1 to 255 printable ASCII characters, bare or in double quotes.',
  },
  'unsupported-grant-type': {
    status: 400,
    title: 'This grant type is not supported',
    remedy: 'Send `grant_type=client_credentials`.',
  },
  'invalid-scope': {
    status: 400,
    title: 'Scopes are not supported',
    remedy: 'Leave `scope` out. The roles of the service decide what it may do.',
  },
  'unsupported-token-type': {
    status: 400,
    title: 'This kind of token cannot be revoked',
    remedy: 'Send the refresh token. An access token ends by itself.',
  },
  'bad-request': {
    status: 400,
    title: 'The request is not valid HTTP',
    remedy: 'Check the request line, the headers and the escapes in the URL.',
  },
  'authentication-required': {
    status: 401,
    title: 'A valid credential is required',
    remedy: 'Sign in, refresh the token, or send `Authorization: Bearer <token>`.',
  },
  'invalid-credentials': {
    status: 401,
    title: 'The email or password is wrong',
    remedy: 'Check both and try again. After several failures you have to wait.',
  },
  'invalid-client': {
    status: 401,
    title: 'The client id or secret is wrong',
    remedy: 'Check both. The secret may have been rotated.',
  },
  'invalid-refresh-token': {
    status: 401,
    title: 'The refresh token is not valid',
    remedy: 'Sign in again. A refresh token works once. Using it twice ends its whole family.',
  },
  'permission-denied': {
    status: 403,
    title: 'The caller lacks a permission',
    remedy: 'Ask an administrator for a role with the permission in `permission`.',
  },
  'not-for-services': {
    status: 403,
    title: 'A service cannot do this',
    remedy: 'Sign in as a person. A service has no sessions and no password.',
  },
  'recent-sign-in-needed': {
    status: 403,
    title: 'The last sign-in is too long ago',
    remedy:
      'Confirm the password (POST /v1/auth/session/confirm), or sign in again if you use tokens. Either counts for five minutes.',
  },
  'wrong-password': {
    status: 403,
    title: 'The password is wrong',
    remedy: 'Try again. A wrong password counts as a failed sign-in. After several you have to wait.',
  },
  'csrf-token-missing': {
    status: 403,
    title: 'The antiforgery token is missing',
    remedy: 'Fetch one with GET /v1/auth/csrf and send it as `X-XSRF-TOKEN`.',
  },
  'csrf-token-invalid': {
    status: 403,
    title: 'The antiforgery token does not belong to this session',
    remedy: 'Fetch a new one with GET /v1/auth/csrf and repeat the request.',
  },
  'cross-site-request': {
    status: 403,
    title: 'The request comes from another site',
    remedy: 'Cookie callers must send unsafe requests from the origin of the service.',
  },
  'self-approval': {
    status: 403,
    title: 'The creator cannot approve this order',
    remedy: 'Ask someone else to approve it. The approval policy of this order requires that.',
  },
  'service-approval': {
    status: 403,
    title: 'A service cannot approve this order',
    remedy: 'Ask a person to approve it. The approval policy of this order requires that.',
  },
  'not-the-creator': {
    status: 403,
    title: 'Only the creator can withdraw an order',
    remedy: 'Ask the creator to withdraw it, or reject it.',
  },
  'route-not-found': {
    status: 404,
    title: 'No such route',
    remedy: 'Check the path. Paths are case-sensitive.',
  },
  'order-not-found': { status: 404, title: 'No such order', remedy: 'Check the id.' },
  'view-not-found': {
    status: 404,
    title: 'No such view',
    remedy: 'Check the id. Only its owner can see a view that is not shared.',
  },
  'sign-in-not-found': {
    status: 404,
    title: 'No such sign-in',
    remedy: 'List the sign-ins again. This one may have ended.',
  },
  'link-not-found': {
    status: 404,
    title: 'The link is not valid',
    remedy: 'A link works once, within 24 hours and until a newer one is made. Ask for a new one.',
  },
  'user-not-found': { status: 404, title: 'No such user', remedy: 'Check the id.' },
  'client-not-found': { status: 404, title: 'No such service client', remedy: 'Check the id.' },
  'role-not-found': { status: 404, title: 'No such role', remedy: 'Check the name. It is case-sensitive.' },
  'method-not-allowed': {
    status: 405,
    title: 'This path does not support the method',
    remedy: 'Use one of the methods in the `Allow` header.',
  },
  'request-timeout': {
    status: 408,
    title: 'The request did not arrive in time',
    remedy: 'Send it again. The whole request must arrive within 30 seconds.',
  },
  'order-not-pending': {
    status: 409,
    title: 'The order is not pending',
    remedy: 'Read the order again. `currentStatus` is its status now.',
  },
  'already-approved-by-you': {
    status: 409,
    title: 'You have already approved this order',
    remedy: 'Wait for another person to approve it. Each person counts once.',
  },
  'order-not-approved': {
    status: 409,
    title: 'The order is not approved',
    remedy: 'Only an approved order has a receipt.',
  },
  'concurrency-conflict': {
    status: 409,
    title: 'Another change came first',
    remedy: 'Read it again, and repeat what still makes sense.',
  },
  'view-name-taken': {
    status: 409,
    title: 'Another view has this name',
    remedy: 'Choose another name, or replace that view.',
  },
  'too-many-views': {
    status: 409,
    title: 'You have too many views',
    remedy: 'Delete one first. An account can have up to 100.',
  },
  'name-taken': {
    status: 409,
    title: 'The name is taken',
    remedy: 'Choose another name. Users and services share one set of names, and case is ignored.',
  },
  'email-taken': {
    status: 409,
    title: 'Another user has this email',
    remedy: 'Find that user, or use another email.',
  },
  'last-administrator': {
    status: 409,
    title: 'Someone must be able to manage accounts',
    remedy: 'First let another user manage accounts, one who can sign in.',
  },
  'account-disabled': {
    status: 409,
    title: 'The account is disabled',
    remedy: 'Enable it first.',
  },
  'role-held': {
    status: 409,
    title: 'Some accounts still have this role',
    remedy: 'Remove it from them first. `accounts` is how many have it.',
  },
  'idempotency-in-progress': {
    status: 409,
    title: 'The first request with this key is still running',
    remedy: 'Repeat the same request after `Retry-After` seconds.',
  },
  'export-running': {
    status: 409,
    title: 'You already have an export running',
    remedy: 'Read it to its end, or end it, and try again. A caller can have one at a time.',
  },
  'precondition-failed': {
    status: 412,
    title: 'It has changed since you read it',
    remedy: 'Read it again. Its current version is in the `ETag` header.',
  },
  'body-too-large': {
    status: 413,
    title: 'The body is too large',
    remedy: 'A body can have at most 64 KiB.',
  },
  'uri-too-long': { status: 414, title: 'The URL is too long', remedy: 'A URL can have at most 8 KiB.' },
  'unsupported-media-type': {
    status: 415,
    title: 'The body has the wrong media type',
    remedy: 'Send JSON in UTF-8, unless the operation takes something else, and no `Content-Encoding`.',
  },
  'expectation-failed': {
    status: 417,
    title: 'The Expect header cannot be met',
    remedy: 'Leave the Expect header out, or send `Expect: 100-continue`.',
  },
  'misdirected-request': {
    status: 421,
    title: 'This server does not serve that host',
    remedy: 'A development server answers on loopback names only. See `--allow-remote-demo`.',
  },
  'unknown-role': {
    status: 422,
    title: 'A role does not exist',
    remedy: 'List the roles, and send only those.',
  },
  'idempotency-key-reused': {
    status: 422,
    title: 'The idempotency key belongs to another request',
    remedy: 'Use a new key for every new request.',
  },
  'rate-limited': {
    status: 429,
    title: 'Too many requests',
    remedy: 'Wait `Retry-After` seconds.',
  },
  'too-many-streams': {
    status: 429,
    title: 'Too many streams at once',
    remedy: 'End one first. A caller can have up to four.',
  },
  'too-many-attempts': {
    status: 429,
    title: 'Too many failed sign-ins',
    remedy: 'Wait `Retry-After` seconds. No password is checked until then.',
  },
  'precondition-required': {
    status: 428,
    title: 'The If-Match header is missing',
    remedy: 'Read first, and send the `ETag` of what you read as `If-Match`.',
  },
  'headers-too-large': {
    status: 431,
    title: 'The header block is too large',
    remedy: 'A header block can have at most 16 KiB.',
  },
  'internal-error': {
    status: 500,
    title: 'The service failed unexpectedly',
    remedy: 'Report the `requestId`. The log has the cause.',
  },
  'database-unavailable': {
    status: 503,
    title: 'The database is not available',
    remedy: 'Repeat the request after `Retry-After` seconds.',
  },
  'receipt-not-ready': {
    status: 503,
    title: 'The approval is still being recorded',
    remedy: 'Repeat the request after `Retry-After` seconds.',
  },
  overloaded: {
    status: 503,
    title: 'The service is overloaded',
    remedy: 'Repeat the request after `Retry-After` seconds.',
  },
  'shutting-down': {
    status: 503,
    title: 'This instance is shutting down',
    remedy: 'Repeat the request. Another instance will answer.',
  },
} as const satisfies Record<string, { status: number; title: string; remedy: string }>

export type ProblemCode = keyof typeof catalogue

/** Where and how one value broke a rule. Exactly one of `pointer`, `parameter` and `header` is given. */
export interface FieldError {
  /** JSON pointer as a URI fragment, such as `#/total`. */
  pointer?: string
  parameter?: string
  header?: string
  code: string
  detail: string
  /**
   * In a filter: where the faulty part starts and its length, in UTF-16 units, and what could stand there.
   */
  position?: number
  length?: number
  expected?: readonly string[]
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

/** The one way to fail. Thrown anywhere, answered as `application/problem+json` by http/errors.ts. */
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
