// engine: both
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { testEngine, withRawDatabase } from '../support/database.ts'
import { isLong } from '../support/faults.ts'
import { History } from '../support/history.ts'
import { storedEvents } from '../support/kept-log.ts'
import type { RunningServer } from '../support/process.ts'
import { bearerOf, testProduction } from '../support/production.ts'

const rounds = isLong ? 20 : 2
const writesPerRound = isLong ? 3_000 : 200
/** On PostgreSQL there are two, and both seal. */
const instances = testEngine === 'sqlite' ? 1 : 2

describe('services stopped while they seal events', () => {
  const production = testProduction()

  const waiting = async () => {
    const events = await withRawDatabase(production.databaseUrl, storedEvents)
    return events.filter(({ sequence }) => sequence === null)
  }

  const start = () => Promise.all(Array.from({ length: instances }, () => production.serve()))

  async function stopUnderLoad(servers: RunningServer[], history: History): Promise<void> {
    const enough = history.acknowledged + writesPerRound
    const works = servers.map(async ({ baseUrl }) =>
      history.write(await bearerOf(baseUrl, 'admin'), { writers: 8 }),
    )
    while (history.acknowledged < enough) await wait(5)
    const statuses = await Promise.all(servers.map((server) => server.stop()))
    assert.ok(statuses.every((status) => status === 0))
    await Promise.all(works)
  }

  it('leave a log without a fork or a gap, and the next instance seals what waits', async (t) => {
    const history = new History('admin')
    for (let round = 0; round < rounds; round += 1) {
      await stopUnderLoad(await start(), history)
      await history.assertKept(production.databaseUrl)
    }
    const left = (await waiting()).length
    const server = await production.serve()
    const begun = performance.now()
    while ((await waiting()).length > 0) await wait(20)
    const lag = Math.round(performance.now() - begun)
    assert.equal(await server.stop(), 0)
    await history.assertKept(production.databaseUrl)
    t.diagnostic(
      `${history.acknowledged} writes; the ${left} events that waited at last were sealed in ${lag} ms`,
    )
  })
})
