// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DatabaseUnavailable } from '../../server/db/errors.ts'
import type { GroupedOperations } from '../../server/db/port.ts'
import { createTestDatabase, withRawDatabase } from '../support/database.ts'
import { openTestPort } from '../support/test-port.ts'

/** More than there are connections. */
const writes = 40

/** Does nothing for any input, so that each runs alone. */
const declining: GroupedOperations = { add: async (_trx, inputs) => inputs.map(() => undefined) }

describe('the database port, when it is closed', () => {
  for (const [name, groupedOperations] of Object.entries({
    alone: {},
    'in a group that declines': declining,
  })) {
    it(`waits for running writes and for those waiting for their turn, ${name}`, async (t) => {
      const database = await createTestDatabase()
      t.after(() => database.drop())
      const port = await openTestPort(database.databaseUrl, groupedOperations)
      const names = Array.from({ length: writes }, (_, index) => `name ${index}`)
      const written = Promise.allSettled(names.map((each) => port.write('add', { name: each })))
      await port.close()
      assert.deepEqual(
        await written,
        names.map((value) => ({ status: 'fulfilled', value })),
      )
      await assert.rejects(port.write('add', { name: 'too late' }), DatabaseUnavailable)
      const stored = await withRawDatabase(database.databaseUrl, (db) =>
        db.selectFrom('roles').select('name').where('name', 'like', 'name %').execute(),
      )
      assert.equal(stored.length, writes)
    })
  }
})
