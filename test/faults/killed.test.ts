// engine: both
import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from '../support/client.ts'
import { createPostgresDatabase } from '../support/database.ts'
import { faultSeed, isLong, randomOf } from '../support/faults.ts'
import { History } from '../support/history.ts'
import { type OwnPostgres, startPostgres, withoutPostgres } from '../support/postgres.ts'
import {
  at,
  bearerOf,
  credentialsOf,
  newProduction,
  type Production,
  sessionOf,
} from '../support/production.ts'

const rounds = isLong ? 20 : 2
/** A round has half to one and a half times this number of acknowledged writes. */
const writesPerRound = isLong ? 600 : 100
const longestPauseMilliseconds = 20
const recoversWithinMilliseconds = 10_000
const writers = 12
const chains = 4

/** Callers that write until the service is gone, and later repeat what was not answered. */
class Callers {
  readonly history = new History('admin')
  readonly #production: Production
  readonly #random: () => number
  readonly #bearer: Client
  readonly #session: Client

  private constructor(production: Production, name: string, bearer: Client, session: Client) {
    this.#production = production
    this.#random = randomOf(name)
    this.#bearer = bearer
    this.#session = session
  }

  static async of(production: Production, baseUrl: string, name: string): Promise<Callers> {
    const [bearer, session] = [await bearerOf(baseUrl, 'admin'), await sessionOf(baseUrl, 'operator')]
    const callers = new Callers(production, name, bearer, session)
    while (callers.history.chains.length < chains) {
      const { body } = await new Client(baseUrl).post('/v1/auth/token', credentialsOf('operator'))
      callers.history.chains.push({ tokens: [body.refreshToken], openKey: undefined })
    }
    return callers
  }

  async writeUntil(baseUrl: string, kill: () => Promise<unknown>): Promise<void> {
    const enough = this.history.acknowledged + Math.round(writesPerRound * (0.5 + this.#random()))
    const work = this.history.write(at(baseUrl, this.#bearer), { writers })
    while (this.history.acknowledged < enough) {
      await Promise.race([wait(1), work.then(() => assert.fail('the load ended by itself'))])
    }
    await wait(longestPauseMilliseconds * this.#random())
    await kill()
    await work
  }

  async goOn(baseUrl: string): Promise<void> {
    await this.history.assertKept(this.#production.databaseUrl)
    await this.history.repeatUnanswered(at(baseUrl, this.#bearer))
    await this.history.assertKept(this.#production.databaseUrl)
    const later = await at(baseUrl, this.#session).post('/v1/orders', { customer: 'later', total: 1 })
    assert.equal(later.status, 201, later.text)
  }

  tell(t: TestContext): void {
    t.diagnostic(
      `seed ${faultSeed}: ${rounds} kills, ${this.history.acknowledged} acknowledged writes, none lost`,
    )
  }
}

describe('the service, killed under a load of writes', () => {
  it(`${rounds} times: every acknowledged write is there once, nothing is half done, and old credentials work`, async (t) => {
    const production = await newProduction()
    t.after(() => production.remove())
    let server = await production.serve()
    const callers = await Callers.of(production, server.baseUrl, 'killed')
    for (let round = 0; round < rounds; round += 1) {
      await callers.writeUntil(server.baseUrl, () => server.stop('SIGKILL'))
      server = await production.serve()
      await callers.goOn(server.baseUrl)
    }
    assert.equal(callers.history.unavailable, 0)
    assert.equal(await server.stop(), 0)
    callers.tell(t)
  })
})

describe('PostgreSQL, killed under a load of writes', { skip: withoutPostgres }, () => {
  let postgres: OwnPostgres
  let production: Production
  before(async () => {
    postgres = await startPostgres({ durable: true })
    production = await newProduction(await createPostgresDatabase(postgres.url))
  })
  after(async () => {
    await production?.remove()
    await postgres?.end()
  })

  it(`${rounds} times: the service survives, and no write is lost or doubled`, async (t) => {
    const { baseUrl, process } = await production.serve()
    const anyone = new Client(baseUrl)
    const callers = await Callers.of(production, baseUrl, 'postgres-killed')
    for (let round = 0; round < rounds; round += 1) {
      await callers.writeUntil(baseUrl, () => postgres.tell('kill9'))
      assert.equal((await anyone.get('/health')).status, 200)
      assert.equal((await anyone.get('/health/ready')).status, 503)
      await postgres.tell('start')
      const begun = performance.now()
      while ((await anyone.get('/health/ready')).status !== 200) {
        assert.ok(performance.now() - begun < recoversWithinMilliseconds, 'not ready within 10 s')
        await wait(20)
      }
      await callers.goOn(baseUrl)
    }
    assert.ok(callers.history.unavailable > 0)
    assert.equal(process.exitCode, null)
    callers.tell(t)
  })
})
