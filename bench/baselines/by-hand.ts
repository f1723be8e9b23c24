import { createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import Sqlite from 'better-sqlite3'

/**
 * F, the physical limit that the service is compared with: the least code that answers GET /v1/orders/{id} to
 * a bearer on Node. It has node:http, one prepared statement, a cache of verified RS256 tokens, and JSON. It
 * leaves out all else in the contract: limits, log, permissions, revocation, problems, entity tags, headers.
 */
const publicKey = createPublicKey(readFileSync(process.env.SIGNING_KEY_FILES ?? ''))
const file = (process.env.DATABASE_URL ?? '').replace(/^file:/, '')
const database = new Sqlite(file, { readonly: true })
const select = database.prepare<[string], OrderRow>(
  `select id, customer, total_e4, status, created_at, created_at_time_zone, updated_at, updated_at_time_zone,
     created_by, modified_by from orders where id = ?`,
)

interface OrderRow {
  id: string
  customer: string
  total_e4: number
  status: number
  created_at: number
  created_at_time_zone: string | null
  updated_at: number | null
  updated_at_time_zone: string | null
  created_by: string | null
  modified_by: string | null
}

/** When each token expires, in milliseconds, keyed by the whole token. */
const verified = new Map<string, number>()

function isValid(authorization: string | undefined): boolean {
  const token = authorization?.slice('Bearer '.length) ?? ''
  const known = verified.get(token)
  if (known !== undefined) return known > Date.now()
  const [header = '', payload = '', signature = ''] = token.split('.')
  const signed = Buffer.from(`${header}.${payload}`)
  if (!verify('sha256', signed, publicKey, Buffer.from(signature, 'base64url'))) return false
  const expiresAt = JSON.parse(Buffer.from(payload, 'base64url').toString()).exp * 1000
  verified.set(token, expiresAt)
  return expiresAt > Date.now()
}

const pathStart = '/v1/orders/'.length

const server = createServer((request, response) => {
  const { url = '' } = request
  if (url === '/health') {
    response.end()
    return
  }
  if (!isValid(request.headers.authorization)) {
    response.writeHead(401).end()
    return
  }
  const row = select.get(url.slice(pathStart))
  if (row === undefined) {
    response.writeHead(404).end()
    return
  }
  const body = JSON.stringify({
    id: row.id,
    customer: row.customer,
    total: row.total_e4 / 10_000,
    status: row.status,
    createdAtUtc: new Date(row.created_at).toISOString(),
    createdAtTimeZone: row.created_at_time_zone,
    updatedAtUtc: row.updated_at === null ? null : new Date(row.updated_at).toISOString(),
    updatedAtTimeZone: row.updated_at_time_zone,
    createdBy: row.created_by,
    modifiedBy: row.modified_by,
  })
  response
    .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    .end(body)
})

server.listen(Number(process.env.PORT), '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
