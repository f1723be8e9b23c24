// engine: both
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { sql } from '#kysely'
import { newOrderedId } from '../../server/ids.ts'
import { openAppDatabase } from '../../server/operations.ts'
import { createTestDatabase, type TestDatabase, testEngine, withRawDatabase } from '../support/database.ts'
import { seal } from '../support/log.ts'
import { stamp } from '../support/orders.ts'
import { commandLine, goodPassword, runCommand } from './command-line.ts'

const preload = new URL('../support/stop-preload.ts', import.meta.url).href
/** A process dies before its first statement, or the one with this count, that contains the text. */
const places = [
  ['update "administration"'],
  ['update events set clear'],
  ['update orders set version'],
  ['insert into events'],
  // The commit of the erasure follows that of a sealing, and only SQLite rewrites its file afterwards.
  testEngine === 'sqlite' ? ['vacuum'] : ['commit', '2'],
] as const

describe('an erasure whose process is killed', () => {
  const cli = commandLine({ after })
  let database: TestDatabase
  const env = () => ({ DATABASE_URL: database.databaseUrl })
  const run = (command: string, input = '') => cli.run(command, input, env())
  const nameOf = (number: number) => `Quillon${number}x`
  const customerOf = (number: number) => `Zephyrine${number}x`

  /** A person and a customer for each place. */
  before(async () => {
    database = await createTestDatabase()
    const db = await openAppDatabase({ databaseUrl: database.databaseUrl })
    await run('user add keeper@example.com --role Admin', goodPassword)
    for (const number of places.keys()) {
      const name = nameOf(number)
      await run(`user add ${name}@example.com --user-name ${name} --role Operator --invite`)
      const at = 1_795_000_000_000 + number
      const by = stamp({ by: name, byId: number + 2, nowMilliseconds: at, eventId: newOrderedId(at) })
      const order = { id: newOrderedId(at), customer: customerOf(number), total: 10_000 }
      await db.write('createOrder', { order, stamp: by, idempotency: null })
    }
    await seal(db)
    await db.close()
  })
  after(() => database.drop())

  /** In how many rows, and in how many lines of the log, the name is. */
  const found = (name: string) =>
    withRawDatabase(database.databaseUrl, async (trx) => {
      const count = async (rows: ReturnType<typeof sql<{ rows: number }>>) =>
        Number((await rows.execute(trx)).rows[0]?.rows)
      return {
        rows: await count(sql`select count(*) as rows from orders where ${name} in (created_by, customer)`),
        lines: await count(
          sql`select count(*) as rows from events where clear like ${`%"value":"${name}"%`}`,
        ),
      }
    })

  for (const [number, [place, count = '1']] of places.entries()) {
    const both = [
      [`person erase ${number + 2}`, nameOf(number)],
      [`customer erase ${customerOf(number)}`, customerOf(number)],
    ] as const
    for (const [command, name] of both) {
      it(`is done or not begun: ${command} at ${place}`, async () => {
        assert.ok((await found(name)).rows > 0)
        const killed = { STOP_BEFORE: place, STOP_COUNT: count, STOP_SIGNAL: 'SIGKILL' }
        const more = { ...env(), ...killed, NODE_OPTIONS: `--import=${preload}` }
        const { status, stdout } = await runCommand(command, '', cli.folder, more)
        assert.deepEqual([status, stdout], [null, 'stopped\n'])
        const { rows, lines } = await found(name)
        assert.equal(rows > 0, lines > 0)
        assert.equal(rows > 0, place !== 'vacuum')
        assert.equal((await run('log verify')).status, 0)
      })
    }
  }
})
