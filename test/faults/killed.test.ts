import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from '../support/client.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { faultSeed, isLong, randomOf } from '../support/faults.ts'
import { History } from '../support/history.ts'
import { type RunningServer, startServer } from '../support/process.ts'
import {
  at,
  bearerOf,
  credentialsOf,
  type Production,
  prepareProduction,
  sessionOf,
} from '../support/production.ts'

const rounds = isLong ? 20 : 3
/** Acknowledged writes of a round: half as many to one and a half times as many. */
const writesPerRound = isLong ? 600 : 150
const longestPauseMilliseconds = 20
const writers = 12
const chains = 4

describe('the service killed under a load of writes', () => {
  let database: TestDatabase
  let production: Production
  before(async () => {
    database = await createTestDatabase()
    production = await prepareProduction(database.databaseUrl)
  })
  after(async () => {
    await production?.remove()
    await database?.drop()
  })

  async function beginChains(history: History, baseUrl: string): Promise<void> {
    while (history.chains.length < chains) {
      const { body } = await new Client(baseUrl).post('/v1/auth/token', credentialsOf('operator'))
      history.chains.push({ tokens: [body.refreshToken], openKey: undefined })
    }
  }

  async function killUnderLoad(
    server: RunningServer,
    caller: Client,
    history: History,
    random: () => number,
  ) {
    const enough = history.acknowledged + Math.round(writesPerRound * (0.5 + random()))
    const pause = longestPauseMilliseconds * random()
    const work = history.write(caller, { writers })
    while (history.acknowledged < enough) {
      await Promise.race([wait(1), work.then(() => assert.fail('the load ended by itself'))])
    }
    await wait(pause)
    await server.stop('SIGKILL')
    await work
  }

  it(`${rounds} times: what it acknowledged is there once, nothing by halves, and old credentials serve`, async (t) => {
    const random = randomOf('killed')
    const history = new History('admin')
    let server = await startServer([], production.env)
    t.after(() => server.stop())
    const bearer = await bearerOf(server.baseUrl, 'admin')
    const session = await sessionOf(server.baseUrl, 'operator')
    await beginChains(history, server.baseUrl)
    for (let round = 0; round < rounds; round += 1) {
      await killUnderLoad(server, at(server.baseUrl, bearer), history, random)
      server = await startServer([], production.env)
      await history.assertKept(database.databaseUrl)
      await history.repeatUnanswered(at(server.baseUrl, bearer))
      await history.assertKept(database.databaseUrl)
      const later = await at(server.baseUrl, session).post('/v1/orders', { customer: 'later', total: 1 })
      assert.equal(later.status, 201, later.text)
    }
    assert.equal(await server.stop(), 0)
    t.diagnostic(`seed ${faultSeed}: ${rounds} kills, ${history.acknowledged} acknowledged writes, none lost`)
  })
})
