// engine: both
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { tileSize } from '../../proof/log-tree.ts'
import { readCheckpoint, readNote, spellVerifierKey } from '../../proof/note.ts'
import { firstUnlikeTile } from '../../server/audit/lines/store.ts'
import { runCommand } from '../cli/command-line.ts'
import type { Client } from '../support/client.ts'
import { testEngine, withRawDatabase } from '../support/database.ts'
import { faultSeed, isLong, randomOf } from '../support/faults.ts'
import { assertWholeTree, storedEvents } from '../support/kept-log.ts'
import { addWaitingEvents } from '../support/log.ts'
import { withoutPostgres } from '../support/postgres.ts'
import type { RunningServer } from '../support/process.ts'
import { at, bearerOf, newProduction, type Production } from '../support/production.ts'
import { until } from '../support/stream.ts'
import { logKey } from '../support/witnessed.ts'

const rounds = isLong ? 20 : 2
const killing = new URL('../support/stop-preload.ts', import.meta.url).href
/** Places in the transaction that seals: the lines are stored without the head, or both without the tile. */
const places = ['update "log_head"', 'insert into "log_tiles"']

/** Settings of an instance that kills itself when it gets to the place for the n-th time. */
const killedAt = (place = '', count = 1) => ({
  NODE_OPTIONS: `--import=${killing}`,
  STOP_BEFORE: place,
  STOP_COUNT: String(count),
  STOP_SIGNAL: 'SIGKILL',
})

const isKilled = ({ process }: RunningServer) => process.signalCode === 'SIGKILL'

/** A log to which many events are added, and every checkpoint that was signed on the way. */
class WatchedLog {
  readonly production: Production
  readonly #checkpoints = new Set<string>()
  #added = 0
  #admin: Client | undefined

  static async of(t: TestContext): Promise<WatchedLog> {
    const production = await newProduction()
    t.after(() => production.remove())
    return new WatchedLog(production, (await withRawDatabase(production.databaseUrl, storedEvents)).length)
  }

  private constructor(production: Production, events: number) {
    this.production = production
    this.#added = events
  }

  get signed(): number {
    return this.#checkpoints.size
  }

  async add(count: number): Promise<void> {
    await addWaitingEvents(this.production, count)
    this.#added += count
  }

  /** The checkpoint of the log as this instance sees it. A killed one has none. */
  async see({ baseUrl }: RunningServer): Promise<void> {
    try {
      this.#admin ??= await bearerOf(baseUrl, 'admin')
      const { status, text } = await at(baseUrl, this.#admin).get('/v1/log/checkpoint?latest=true')
      if (status === 200) this.#checkpoints.add(text)
    } catch {}
  }

  async waiting(): Promise<number> {
    return withRawDatabase(this.production.databaseUrl, async (db) => {
      const count = db.selectFrom('unsealed_events').select((eb) => eb.fn.countAll().as('count'))
      return Number((await count.executeTakeFirstOrThrow()).count)
    })
  }

  async seal(): Promise<void> {
    const server = await this.production.serve()
    await until(async () => (await this.waiting()) === 0)
    await this.see(server)
    assert.equal(await server.stop(), 0)
  }

  /** No event is lost or doubled, and every full tile is there. */
  async assertWhole(): Promise<void> {
    await withRawDatabase(this.production.databaseUrl, async (db) => {
      await assertWholeTree(db)
      const events = await storedEvents(db)
      assert.equal(new Set(events.map(({ id }) => id)).size, this.#added)
      assert.equal(events.length, this.#added)
      const sealed = events.filter(({ sequence }) => sequence !== null).length
      const tiles = await db.selectFrom('log_tiles').select('number').where('level', '=', 0).execute()
      assert.equal(tiles.length, Math.floor(sealed / tileSize))
      assert.equal(await firstUnlikeTile(db as Parameters<typeof firstUnlikeTile>[0]), undefined)
    })
  }

  /** Every checkpoint that was signed on the way is one of the log at its end, and no size has two roots. */
  async assertNeverForked(t: TestContext): Promise<void> {
    const heads = [...this.#checkpoints].map((text) => readCheckpoint(readNote(text).text))
    assert.equal(new Set(heads.map(({ size }) => size)).size, heads.length, 'a size with two roots')
    const folder = await mkdtemp(join(tmpdir(), 'countersign-checkpoints-'))
    t.after(() => rm(folder, { recursive: true }))
    const lines = [...this.#checkpoints].map((checkpoint) => `${JSON.stringify({ checkpoint })}\n`)
    await writeFile(join(folder, 'checkpoints.jsonl'), lines.join(''))
    const run = async (command: string) => {
      const env = { DATABASE_URL: this.production.databaseUrl }
      const { status, stdout, stderr } = await runCommand(command, '', folder, env)
      assert.equal(status, 0, stderr)
      return stdout
    }
    // The events are of orders that do not exist, which only the export hides.
    await run('log export log.jsonl')
    const key = spellVerifierKey(await logKey())
    const said = await run(`log verify --export log.jsonl --checkpoint checkpoints.jsonl --log-key ${key}`)
    assert.match(said, new RegExp(`^The log is intact: ${this.#added} events`))
  }
}

// On PostgreSQL two of them are.
const skip = testEngine === 'postgres' && 'the next test has its kills'
describe('an instance that is killed while it seals', { skip }, () => {
  it(`${rounds} times leaves no line without its head and its tile; the next one goes on`, async (t) => {
    const log = await WatchedLog.of(t)
    for (let round = 0; round < rounds; round += 1) {
      // They complete a tile.
      await log.add(tileSize + round)
      const doomed = await log.production.serve(killedAt(places[round % places.length]))
      await until(() => isKilled(doomed))
      await log.assertWhole()
      await log.seal()
      await log.assertWhole()
    }
    assert.equal(log.signed, rounds)
    await log.assertNeverForked(t)
  })
})

describe('two instances of which the sealing one is killed again and again', {
  skip: withoutPostgres,
}, () => {
  it(`${rounds} times never fork the log`, async (t) => {
    const log = await WatchedLog.of(t)
    const random = randomOf('killed-sealers')
    const serve = (kills: number) =>
      log.production.serve(killedAt(places[kills % places.length], 1 + Math.floor(random() * 8)))
    const servers = [await serve(0), await serve(1)]
    let kills = 0
    while (kills < rounds) {
      if ((await log.waiting()) < tileSize) await log.add(tileSize)
      for (const [index, server] of servers.entries()) {
        await log.see(server)
        if (!isKilled(server)) continue
        kills += 1
        servers[index] = await serve(kills)
      }
      await wait(20)
    }
    await Promise.all(servers.map((server) => server.stop('SIGKILL')))
    await log.assertWhole()
    await log.seal()
    await log.assertWhole()
    await log.assertNeverForked(t)
    t.diagnostic(`seed ${faultSeed}: ${kills} kills, ${log.signed} checkpoints`)
  })
})
