// engine: none
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseDatabaseUrl } from '../../server/db/address.ts'

const secret = 'h0rse-battery'
const parameters =
  'host, port, user, password, sslmode, sslrootcert, sslcert, sslkey, sslnegotiation, uselibpqcompat,' +
  ' application_name, options'

describe('the address of a PostgreSQL database', () => {
  it('is accepted in every form that the driver understands', () => {
    for (const url of [
      `postgres://app:${secret}@db.internal:5433/orders?sslmode=verify-full&sslrootcert=/ca.pem`,
      `postgresql://app:a,b@[2001:db8::1]/orders`,
      'postgres:///orders?host=/run/postgresql&user=app',
      `postgres://app:${secret}@/orders?host=/run/postgresql`,
      'postgres://app@%2Frun%2Fpostgresql/orders',
    ]) {
      assert.deepEqual(parseDatabaseUrl(url), { engine: 'postgres', url })
    }
  })

  const refused: Record<string, string> = {
    [`host=db user=app password=${secret} dbname=orders`]:
      'must be file:PATH (SQLite) or postgres://... (PostgreSQL); the form `host=... dbname=...` is not understood',
    [`postgres://app:${secret}@one,two/orders`]:
      'several hosts are not understood: give the one that leads to the primary',
    [`postgres://app:${secret}#x@db/orders`]:
      'the address is not a valid URL (in a user name or password write # / ? : @ % as %23 %2F %3F %3A %40 %25)',
    [`postgres://app:${secret}@db/orders?sslmod=verify-full&connect_timeout=3`]: `the address has a parameter that is not understood (sslmod, connect_timeout); those that are: ${parameters}`,
    [`postgres://app:1?${secret}&x@db/orders`]: `the address has a parameter that is not understood; those that are: ${parameters}`,
  }
  for (const [url, line] of Object.entries(refused)) {
    it(`is refused without its secret: ${line.slice(0, 60)}`, () => {
      assert.throws(() => parseDatabaseUrl(url), { message: `DATABASE_URL: ${line}` })
    })
  }
})
