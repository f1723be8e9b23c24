// engine: PostgreSQL
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CompiledQuery, Transaction } from '#kysely'
import { type EnterByCompanyInput, enterByCompany } from '../../server/auth/credentials/company/company.ts'
import { RefreshTokens } from '../../server/auth/credentials/tokens/refresh-tokens.ts'
import { rotateRefreshToken } from '../../server/auth/credentials/tokens/store.ts'
import { machineStamp } from '../../server/caller/stamp.ts'
import type { Database } from '../../server/db/tables.ts'
import { newSecret, sha256 } from '../../server/ids.ts'
import { newUser, tokenPair } from '../support/accounts.ts'
import { hashOf } from '../support/cheap-hash.ts'
import { testEngine, withRawDatabase } from '../support/database.ts'
import { connectTo, lockWaiters } from '../support/postgres.ts'
import { testService } from '../support/service.ts'
import { until } from '../support/stream.ts'

/**
 * In READ COMMITTED each statement sees what was committed before it; SQLite has one writer and no such
 * moment.
 */
describe('a token rotation during which the password changes', {
  skip: testEngine !== 'postgres' && 'needs PostgreSQL',
}, () => {
  const service = testService({})

  it('is refused, and grants nothing dated after the change', async () => {
    const user = await newUser(service)
    const { refreshToken } = await tokenPair(service, user)
    const changePassword = async () => {
      const passwordHash = await hashOf('another quiet harbour at dawn')
      const account = user.account
      await service.db.write('setPassword', {
        account,
        passwordHash,
        stamp: machineStamp(service.now()),
      })
    }
    const presented = new RefreshTokens(service.antiforgeryKey).read(refreshToken)
    assert.ok(presented)
    const now = service.now()
    const rotation = await withRawDatabase(service.databaseUrl, (db) =>
      rotateRefreshToken(interrupted(db as Transaction<Database>, changePassword), {
        ...presented,
        newTokenHash: sha256(newSecret()),
        nowMilliseconds: now,
        tokenExpiresAt: now + 60_000,
      }),
    )
    assert.deepEqual(rotation, { refused: 'invalid-refresh-token', reused: null })
  })
})

describe('a new account for a company account that someone else links meanwhile', {
  skip: testEngine !== 'postgres' && 'needs PostgreSQL',
}, () => {
  const service = testService({})

  it('is refused, and leaves nothing', async (t) => {
    const owner = await newUser(service)
    const now = service.now()
    const [issuer, subject, userName] = ['https://login.example.com', newSecret(), `claims-${owner.id}`]
    const other = await connectTo(service.databaseUrl)
    t.after(() => other.end())
    const row = [owner.id, issuer, subject, now]
    await other.query('begin')
    await other.query('insert into company_accounts values ($1, $2, $3, $4)', row)
    const input = {
      attempt: { nonce: newSecret(), expiresAt: now + 60_000 },
      identity: { issuer, subject, userName, email: `${userName}@example.com`, fullName: null, roles: null },
      ...{ claimRoles: [], createsAccounts: true, link: null, stamp: machineStamp(now) },
      session: {},
    } as unknown as EnterByCompanyInput
    const entering = withRawDatabase(service.databaseUrl, (trx) => enterByCompany(trx, input))
    const refused = assert.rejects(entering, { code: 'company-account-taken' })
    await until(async () => (await lockWaiters(service.databaseUrl)) > 0)
    await other.query('commit')
    await refused
    const found = await withRawDatabase(service.databaseUrl, (db) =>
      db.selectFrom('principals').where('name', '=', userName).select('id').execute(),
    )
    assert.deepEqual(found, [])
  })
})

/** The transaction. `happening` is committed elsewhere before its first SELECT. */
function interrupted(trx: Transaction<Database>, happening: () => Promise<void>): Transaction<Database> {
  let isOver = false
  return new Proxy(trx, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (name !== 'executeQuery') return value.bind(target)
      return async (query: CompiledQuery) => {
        if (!isOver && query.sql.startsWith('select')) {
          isOver = true
          await happening()
        }
        return target.executeQuery(query)
      }
    },
  })
}
