import { approved, pending } from '../orders/states.ts'
import { type Entry, statusName } from './words.ts'

interface Particulars {
  instance?: string
  detail?: string
  headers?: Record<string, string>
  /** Members in addition to those of every problem. */
  members?: Record<string, unknown>
}

const requestId = 'Zr3mQe0bT1u8y7w6v5s4rA'
const oneOrder = '/v1/orders/019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57'
const approval = { instance: `${oneOrder}/approve` }
const receipt = { instance: `${oneOrder}/receipt` }
const serviceToken = { instance: '/v1/auth/clients/token' }
const signIn = { instance: '/v1/auth/session' }
const confirmation = { instance: '/v1/auth/session/confirm' }
const missingValue = 'Add a value: `total` needs a decimal number, such as 100 or 12.50.'
const later = (seconds: number) => ({ headers: { 'Retry-After': String(seconds) } })
const fieldError = (code: string, place: Record<string, string>, detail: string) => ({
  detail,
  members: { errors: [{ ...place, code, detail }] },
})

/** What only the answers of single codes have; the others follow from the catalogue. */
const particulars: Record<string, Particulars> = {
  'validation-failed': {
    members: {
      errors: [
        { pointer: '#/customer', code: 'length', detail: 'customer must not be blank.' },
        { pointer: '#/total', code: 'minimum', detail: 'total must be greater than 0.' },
      ],
    },
  },
  'invalid-filter': {
    detail: missingValue,
    members: {
      errors: [
        {
          parameter: 'filter',
          code: 'syntax',
          position: 6,
          length: 0,
          detail: missingValue,
          expected: ['a decimal number'],
        },
      ],
    },
  },
  'result-too-large': {
    detail: '48210 orders match; at most 10000 are returned as one page.',
    members: { totalCount: 48_210, limit: 10_000 },
  },
  'invalid-time-zone': fieldError(
    'unknown',
    { header: 'Time-Zone' },
    'Time-Zone must be an IANA name such as Europe/Berlin.',
  ),
  'unsupported-grant-type': serviceToken,
  'invalid-scope': serviceToken,
  'unsupported-token-type': { instance: '/v1/auth/revoke' },
  'invalid-credentials': signIn,
  'invalid-client': serviceToken,
  'invalid-refresh-token': { instance: '/v1/auth/token/refresh' },
  'permission-denied': {
    ...approval,
    detail: 'The permission Orders.Approve is needed.',
    members: { permission: 'Orders.Approve' },
  },
  'recent-sign-in-needed': { instance: '/v1/users' },
  'wrong-password': confirmation,
  'route-not-found': { instance: '/v1/order' },
  'order-not-found': { instance: oneOrder },
  'method-not-allowed': { instance: oneOrder, headers: { Allow: 'GET, HEAD, OPTIONS' } },
  'order-not-pending': {
    ...approval,
    detail: 'Only a pending order can be approved.',
    headers: { ETag: '"2"' },
    members: { currentStatus: approved },
  },
  'self-approval': approval,
  'service-approval': approval,
  'not-the-creator': { instance: `${oneOrder}/withdraw` },
  'already-approved-by-you': { ...approval, headers: { ETag: '"2"' } },
  'order-not-approved': { ...receipt, members: { currentStatus: pending } },
  'receipt-not-ready': { ...receipt, ...later(1) },
  'precondition-required': { instance: '/v1/approval-policy' },
  'concurrency-conflict': { ...approval, headers: { ETag: '"2"' } },
  'idempotency-in-progress': later(1),
  'precondition-failed': { ...approval, headers: { ETag: '"2"' } },
  'misdirected-request': { instance: '/' },
  'headers-too-large': { instance: '/' },
  'request-timeout': { instance: '/' },
  'expectation-failed': { instance: '/' },
  'rate-limited': { ...later(12), detail: 'At most 1200 requests in 60 seconds (read).' },
  'too-many-attempts': { ...signIn, ...later(4) },
  'database-unavailable': later(2),
  overloaded: { ...signIn, ...later(1) },
  'shutting-down': later(1),
}

/** The answer with this problem that the service at `origin` would send. */
export function exampleOf(code: string, { status, title, remedy }: Entry, origin: string) {
  const { instance = '/v1/orders', detail = remedy, headers, members } = particulars[code] ?? {}
  const challenge = status === 401 && { 'WWW-Authenticate': 'Bearer realm="countersign"' }
  const head = {
    'Content-Type': 'application/problem+json',
    'X-Request-Id': requestId,
    ...challenge,
    ...headers,
  }
  const type = `${origin}/problems/${code}`
  const body = { type, title, status, detail, instance, code, requestId, ...members }
  return {
    head: [
      `HTTP/1.1 ${status} ${statusName(status)}`,
      ...Object.entries(head).map(([name, value]) => `${name}: ${value}`),
    ],
    body: JSON.stringify(body, null, 2),
  }
}

/** The lines of printed JSON, with the names of members split off. */
export function linesOf(json: string) {
  return json.split('\n').map((line, number) => {
    const [, indent = '', name = '', rest = ''] = /^( *)("[^"]*": )?(.*)$/.exec(line) ?? []
    return { number, indent, name, rest }
  })
}
