// engine: both
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { describe, it } from 'node:test'
import { verifyLog } from '../../proof/log.ts'
import { readReceipt } from '../../proof/receipt.ts'
import { eventKinds } from '../../server/audit/audit.ts'
import { migrateDatabase } from '../../server/db/open.ts'
import { takenAway } from '../../tools/frozen.ts'
import { createTestDatabase, testEngine } from '../support/database.ts'
import { isLong } from '../support/faults.ts'
import { formsOf } from '../support/forms.ts'
import { inPortions } from '../support/log.ts'
import { createdId } from '../support/orders.ts'
import { newProduction, sessionOf } from '../support/production.ts'
import { asBefore, databaseOf, productionOf, recordedBy, schemaOf } from '../support/releases.ts'
import { liveThroughEverything, receiptOf, recordOf, runCommand } from '../support/story.ts'

const releases = readdirSync(new URL('../releases/', import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

const afterwards =
  'a change is a new migration once 1.0.0 is out; until then, `node test/releases/make.ts 1.0.0` and commit'

for (const release of releases) {
  describe(`a database of ${release}`, () => {
    it('has the schema of a new one, once it is migrated', async (t) => {
      const [kept, fresh] = [await databaseOf(release), await createTestDatabase()]
      t.after(() => Promise.all([kept.drop(), fresh.drop()]))
      for (const { databaseUrl } of [kept, fresh]) await migrateDatabase({ databaseUrl })
      assert.deepEqual(await schemaOf(kept), await schemaOf(fresh), afterwards)
    })

    it('is served with every order, receipt and line of the log as they were, and goes on', async (t) => {
      const { databaseUrl, drop } = await databaseOf(release)
      const production = await productionOf(databaseUrl)
      t.after(() => production.remove().then(drop))
      const { baseUrl } = await production.serve()
      const admin = await sessionOf(baseUrl, 'admin')
      const { messages: _, ...recorded } = recordedBy(release)
      const today = await recordOf(admin, await runCommand(production, ['log', 'export']))
      // The key of the service is another one, so it signs receipts again.
      const linesOf = (receipts: Record<string, string>) =>
        Object.values(receipts).map((receipt) => readReceipt(receipt).lines)
      assert.equal(Object.keys(recorded.receipts).length, 4)
      assert.deepEqual(linesOf(today.receipts), linesOf(recorded.receipts))
      const orders = asBefore(today.orders, recorded.orders)
      assert.deepEqual({ ...today, orders, receipts: recorded.receipts }, recorded)
      const id = await createdId(admin, { total: 5 })
      assert.equal((await admin.patch(`/v1/orders/${id}/approve`)).status, 204)
      // The command only reads what is sealed.
      assert.equal((await receiptOf(admin, id)).status, 200)
      const verified = JSON.parse(await runCommand(production, ['log', 'verify', '--json']))
      assert.partialDeepStrictEqual(verified, { size: recorded.log.trimEnd().split('\n').length + 2 })
    })
  })
}

describe('the lines, receipts, checkpoints and messages of each release', () => {
  const kinds = Object.entries(eventKinds).flatMap(([subject, all]) =>
    all.map((kind) => `line ${subject} ${kind} object`),
  )

  it('have every member today that they had, and one of each kind is kept', {
    skip: testEngine !== 'sqlite' && !isLong,
  }, async (t) => {
    const production = await newProduction()
    t.after(() => production.remove())
    const today = formsOf(await liveThroughEverything(production))
    assert.deepEqual(takenAway(kinds, today), [])
    for (const release of releases) {
      assert.deepEqual(takenAway(formsOf(recordedBy(release)), today), [], `${release}: ${afterwards}`)
    }
  })

  it('differ in a form if a member goes or changes its type, and not if one comes', () => {
    const recorded = recordedBy('1.0.0')
    const kept = formsOf(recorded)
    const changed = (from: string | RegExp, to: string) =>
      takenAway(kept, formsOf({ ...recorded, log: recorded.log.replaceAll(from, to) }))
    assert.ok(changed('"atTimeZone":"UTC",', '').length > 0)
    assert.ok(changed(/"byId":(\d+)/g, '"byId":"$1"').includes('line order approved.byId number'))
    assert.deepEqual(changed('"byId":', '"more":[{"x":1}],"byId":'), [])
  })

  it('are compared with answers in which members may come, and none may go or change', () => {
    const { orders } = recordedBy('1.0.0')
    const after = (from: RegExp, to: string) =>
      asBefore(JSON.parse(JSON.stringify(orders).replace(from, to)), orders)
    assert.deepEqual(after(/"customer":/g, '"later":{"x":[1]},"customer":'), orders)
    for (const to of ['', '"number":"2",', '"number":3,']) {
      assert.notDeepEqual(after(/"number":2,/, to), orders)
    }
    assert.notDeepEqual(after(/"given":\[\]/, '"given":[{}]'), orders)
    assert.notDeepEqual(after(/"given":\[\]/, '"given":{}'), orders)
  })

  it('verify', async () => {
    for (const release of releases) {
      const { log } = recordedBy(release)
      const { fault, lost } = await verifyLog(inPortions(Buffer.from(log), 65_536))
      assert.deepEqual({ fault, lost }, { fault: null, lost: null })
    }
  })
})
