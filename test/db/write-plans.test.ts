import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { type CompiledQuery, Kysely, type LogEvent } from '#kysely'
import { migrateDatabase } from '../../server/db/open.ts'
import type { WriteOperation } from '../../server/db/port.ts'
import { sqliteDialect } from '../../server/db/sqlite/driver.ts'
import type { Database } from '../../server/db/tables.ts'
import { operations } from '../../server/operations.ts'
import { orderIdAt, stamp } from '../support/orders.ts'

const now = Date.UTC(2026, 10, 1)
const later = now + 3_600_000
const passwordHash = 'not a hash of anything'

/** Tables that grow with use. The others hold a handful of rows, or one for each account. */
const growing = /^(?:SCAN|SEARCH) (orders|order_approvals|events|session|refresh|login|known|idempotency)/
const byEquality = /\((\w+=\?|<expr>=\?)/

describe('the writes of a running service', () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-plans-'))
  let connection: Sqlite.Database
  let db: Kysely<Database>
  let queries: CompiledQuery[] = []
  before(async () => {
    const file = join(folder, 'test.db')
    await migrateDatabase({ databaseUrl: `file:${file}` })
    connection = new Sqlite(file)
    const log = ({ query }: LogEvent) => void queries.push(query)
    db = new Kysely<Database>({ dialect: sqliteDialect(connection, 'begin'), log })
    await write('addUser', {
      userName: 'planned',
      email: 'planned@example.com',
      passwordHash,
      roles: ['Admin'],
      timeZone: null,
      stamp: stamp({ nowMilliseconds: now }),
    })
    const order = { id: orderId, customer: 'Acme', total: 10_000 }
    await write('createOrder', { order, stamp: actor, idempotency: null })
  })
  after(() => {
    connection.close()
    rmSync(folder, { recursive: true })
  })

  // biome-ignore lint/suspicious/noExplicitAny: each operation has another input
  function write(name: keyof typeof operations, input: any): Promise<unknown> {
    const run: WriteOperation = operations[name]
    return db.transaction().execute((trx) => run(trx, input))
  }

  /** The steps of the statements that read rows of a growing table. */
  async function stepsOf(work: () => Promise<unknown>): Promise<string[]> {
    queries = []
    // Only what it read matters, not what it throws.
    await work().catch(() => undefined)
    assert.ok(queries.length > 0)
    const steps = queries.flatMap(
      ({ sql, parameters }) =>
        connection.prepare(`explain query plan ${sql}`).all(...parameters) as { detail: string }[],
    )
    return steps.map(({ detail }) => detail).filter((detail) => growing.test(detail))
  }

  const at = { nowMilliseconds: now }
  const person = { ...at, principalId: 1, passwordHash, credentialsChangedAt: now }
  const bindings = { offeredBinding: 'binding', freshBinding: 'other binding', replacedIdHash: 'replaced' }
  const ids = { sessionId: 'session', idHash: 'id' }
  const session = { ...person, ...ids, ...bindings, absoluteExpiresAt: later, userAgent: null }
  const ends = { tokenExpiresAt: later, familyExpiresAt: later }
  const family = { ...person, ...ends, familyId: 'family', tokenHash: 'token' }
  const presented = { familyId: 'family', generation: 1, hash: 'token' }
  const rotation = { ...at, ...presented, newTokenHash: 'next', tokenExpiresAt: later }
  const hashes = { accountHash: 'account', pairHash: 'pair', networkHash: 'network' }
  const login = { ...at, ...hashes, isKnown: false }
  const request = { principalId: 1, operation: 'PATCH', key: 'key', fingerprint: 'fingerprint' }
  const idempotency = { ...at, ...request, expiresAt: later }
  const shown = { sessionId: 'session', presentedIdHash: 'id', principalId: 1, newIdHash: 'new id' }
  const refreshed = { ...at, ...shown, authenticatedAt: now, lastSeenAt: now, retireAt: later }
  const orderId = orderIdAt(now, 1)
  const standing = { via: 'bearer', credentialsChangedAt: now } as const
  const actor = { ...stamp({ nowMilliseconds: now, by: 'planned', byId: 1, standing }), isService: true }
  const words = { text: 'Twice.', salt: '00' }
  const change = { id: 'unknown', acceptedVersions: [1], actor, words, idempotency }

  const cases: [keyof typeof operations, object][] = [
    ['createSession', session],
    ['refreshSession', refreshed],
    ['confirmSession', { ...session, ...refreshed, presentedIdHash: 'new id', newIdHash: 'newer id' }],
    ['touchSession', { sessionId: 'session', nowMilliseconds: later }],
    ['endSession', { sessionId: 'id' }],
    ['createRefreshFamily', family],
    ['rotateRefreshToken', rotation],
    ['rotateRefreshToken', rotation],
    ['reserveLoginTry', login],
    ['returnLoginTry', { ...login, succeeded: true }],
    ['returnLoginTry', { ...login, succeeded: false }],
    ['approveOrder', change],
    ['approveOrder', { ...change, id: orderId }],
    ['rejectOrder', change],
    ['withdrawOrder', change],
    ['addNote', { ...change, id: orderId, stamp: actor }],
    ['sealEvents', { limit: 250 }],
  ]
  for (const [name, input] of cases) {
    it(`by ${name} find rows by key, however many rows there are`, async () => {
      const steps = await stepsOf(() => write(name, input))
      const strays = steps.filter((step) => !byEquality.test(step))
      assert.deepEqual(strays, [])
    })
  }
})
