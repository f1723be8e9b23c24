import { approved, pending } from '../orders/states.ts'
import type { Entry } from './words.ts'

interface Particulars {
  instance?: string
  detail?: string
  headers?: Record<string, string>
  /** Members in addition to those of every problem. */
  members?: Record<string, unknown>
}

const requestId = 'Zr3mQe0bT1u8y7w6v5s4rA'
const missingValue = 'Add a value: `total` needs a number, such as 100 or 12.50.'
const zone = 'Time-Zone must be an IANA name such as Europe/Berlin.'
const secondVersion = { headers: { ETag: '"2"' } }
const retryLater = { headers: { 'Retry-After': '2' } }

/** The members that only answers with certain codes have. Everything else follows from the catalogue. */
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
          expected: ['a number'],
        },
      ],
    },
  },
  'result-too-large': {
    detail: '48210 orders match; at most 10000 are returned as one page.',
    members: { totalCount: 48_210, limit: 10_000 },
  },
  'invalid-time-zone': {
    detail: zone,
    members: { errors: [{ header: 'Time-Zone', code: 'unknown', detail: zone }] },
  },
  'permission-denied': {
    detail: 'The permission Orders.Create is needed.',
    members: { permission: 'Orders.Create' },
  },
  'role-needed': {
    ...secondVersion,
    detail: 'One approver must hold the role Finance.',
    members: { role: 'Finance' },
  },
  'route-not-found': { instance: '/v1/order' },
  'method-not-allowed': { instance: '/v1/orders/summary', headers: { Allow: 'GET, HEAD, OPTIONS' } },
  'order-not-pending': {
    ...secondVersion,
    detail: 'Only a pending order can be approved.',
    members: { currentStatus: approved },
  },
  'already-approved-by-you': secondVersion,
  'order-not-approved': { members: { currentStatus: pending } },
  'concurrency-conflict': secondVersion,
  'idempotency-in-progress': retryLater,
  'export-running': retryLater,
  'precondition-failed': secondVersion,
  'rate-limited': { detail: 'At most 1200 requests in 60 seconds (read).' },
}

/** The answer with this problem that the service at `origin` would send. */
export function exampleOf(code: string, { status, reason, title, remedy, ...entry }: Entry, origin: string) {
  const { instance = entry.instance, detail = remedy, headers, members } = particulars[code] ?? {}
  const challenge = status === 401 && { 'WWW-Authenticate': 'Bearer realm="countersign"' }
  const head = {
    'Content-Type': 'application/problem+json',
    'X-Request-Id': requestId,
    ...challenge,
    ...((status === 429 || status === 503) && retryLater.headers),
    ...headers,
  }
  const type = `${origin}/problems/${code}`
  const body = { type, title, status, detail, instance, code, requestId, ...members }
  return {
    head: [
      `HTTP/1.1 ${status} ${reason}`,
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
