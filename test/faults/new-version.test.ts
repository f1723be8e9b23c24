// engine: both
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { readVersion } from '../../server/version.ts'
import type { Client } from '../support/client.ts'
import { testEngine, withRawDatabase } from '../support/database.ts'
import { laterRelease } from '../support/later-release.ts'
import { commandsOf, runOn } from '../support/operations-page.ts'
import { createdId } from '../support/orders.ts'
import type { RunningServer } from '../support/process.ts'
import { at, sessionOf } from '../support/production.ts'
import { asBefore, databaseOf, productionOf, recordedBy } from '../support/releases.ts'
import { recordOf, runCommand } from '../support/story.ts'

const [backUp = [], onSqlite = [], onPostgres = [], judge = [], start = [], restore = []] =
  commandsOf('A new version')

/** A machine that serves a database of the first release, with that release. */
async function startMachine(t: TestContext) {
  const { databaseUrl, drop } = await databaseOf('1.0.0')
  const production = await productionOf(databaseUrl)
  const backups = await mkdtemp(join(tmpdir(), 'countersign-backups-'))
  t.after(async () => {
    await production.remove()
    await drop()
    await rm(backups, { recursive: true })
  })
  let server: RunningServer = await production.serve()
  const admin = await sessionOf(server.baseUrl, 'admin')
  /** The blocks of the page as a release runs them. */
  const release = (env: Record<string, string>) => (commands: readonly string[]) =>
    runOn(
      {
        databaseUrl,
        backups,
        env,
        stop: () => server.stop(),
        async start() {
          if (testEngine === 'postgres') await server.stop()
          server = await production.serve(env)
        },
      },
      commands,
    )
  return { ...production, admin: () => at(server.baseUrl, admin), release }
}

const isApproved = async (caller: Client, id: string) =>
  (await caller.get(`/v1/orders/${id}`)).body.status === 1

async function approvedOrder(caller: Client): Promise<string> {
  const id = await createdId(caller, { total: 5 })
  assert.equal((await caller.patch(`/v1/orders/${id}/approve`)).status, 204)
  return id
}

async function hasColumn(databaseUrl: string): Promise<boolean> {
  const rows = withRawDatabase(databaseUrl, (trx) => trx.selectFrom('orders').selectAll().limit(1).execute())
  return (await rows).some((row) => 'later' in row)
}

describe('docs/operations.md, "A new version"', () => {
  it('leads to it and back, to a release that reads its database, and no order is lost', async (t) => {
    const { admin, release, databaseUrl } = await startMachine(t)
    const [older, newer] = [release({}), release(laterRelease(readVersion()))]
    const orders = [await approvedOrder(admin())]
    if (testEngine === 'sqlite') await older(backUp)
    const printed = await newer(testEngine === 'sqlite' ? onSqlite : onPostgres)
    assert.match(printed, /^0002-later: locks orders for a moment/m)
    assert.match(printed, /^Applied 0002-later\.$/m)
    assert.equal(await hasColumn(databaseUrl), true)
    orders.push(await approvedOrder(admin()))
    if (testEngine === 'sqlite') await older(['systemctl stop countersign'])
    assert.match(await older(judge), /^This one reads it, too\.$/m)
    await older(start)
    orders.push(await approvedOrder(admin()))
    for (const id of orders) assert.ok(await isApproved(admin(), id))
  })

  it('leads back by the backup otherwise', { skip: testEngine !== 'sqlite' }, async (t) => {
    const machine = await startMachine(t)
    const { admin, release, databaseUrl } = machine
    const [older, newer] = [release({}), release(laterRelease('9.0.0'))]
    await older(backUp)
    await newer(onSqlite)
    await approvedOrder(admin())
    assert.match(await older(judge), /newer version of Countersign: run 9\.0\.0 or later/)
    assert.match(await older(restore), /^This one reads it, too\.$/m)
    assert.equal(await hasColumn(databaseUrl), false)
    const { orders } = recordedBy('1.0.0')
    const today = await recordOf(admin(), await runCommand(machine, ['log', 'export']))
    assert.deepEqual(asBefore(today.orders, orders), orders)
  })
})
