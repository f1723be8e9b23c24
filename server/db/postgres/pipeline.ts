import pg from 'pg'
import type { ConnectionSource } from './driver.ts'
import { type ConnectionLosses, endConnection, streamOf } from './pool.ts'

/** Longer than any answer is waited for. */
const retirementMilliseconds = 6_000

/**
 * One connection shared by all single reads, in the driver's pipeline mode: queries are sent without waiting for the
 * answers of those before, which saves the wake-ups of a pool (measured 0.72 against 0.33 of a hand-written server).
 * Only single statements may run on it, never a transaction. Connects when first used, and anew after a loss.
 */
export class PipelinedConnection implements ConnectionSource {
  readonly #config: pg.ClientConfig
  readonly #losses: ConnectionLosses
  readonly #plansOnce: boolean
  #client: Promise<pg.Client> | undefined
  /** The same client while it is connected. */
  #connected: pg.Client | undefined
  #isCorked = false
  #isClosed = false

  /** `plansOnce`: statements are planned for any values instead of anew for each; that is a setting of the session. */
  constructor(config: pg.ClientConfig, losses: ConnectionLosses, { plansOnce }: { plansOnce: boolean }) {
    this.#config = config
    this.#plansOnce = plansOnce
    this.#losses = losses
  }

  async acquire(): Promise<pg.Client> {
    if (this.#isClosed) throw new Error('the database has been closed')
    this.#client ??= this.#connect()
    const connecting = this.#client
    const client = await connecting
    if (!this.#losses.isTrusted(client)) {
      if (this.#client === connecting) {
        this.#client = undefined
        // Others may still be waiting for its answers.
        void endConnection(client, retirementMilliseconds)
      }
      return this.acquire()
    }
    this.#sendTogether(client)
    return client
  }

  acquireNow(): pg.Client | undefined {
    const client = this.#connected
    if (client === undefined || !this.#losses.isTrusted(client)) return undefined
    this.#sendTogether(client)
    return client
  }

  release(_client: pg.ClientBase, failed: boolean): void {
    if (failed) this.#losses.lost(performance.now())
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#connected = undefined
    const client = await this.#client?.catch(() => undefined)
    this.#client = undefined
    if (client !== undefined) await endConnection(client)
  }

  /** Queries of one turn of the event loop leave in one write: a system call each would cost more than the query. */
  #sendTogether(client: pg.Client): void {
    if (this.#isCorked) return
    this.#isCorked = true
    const stream = streamOf(client)
    stream.cork()
    setImmediate(() => {
      this.#isCorked = false
      stream.uncork()
    })
  }

  #connect(): Promise<pg.Client> {
    const client = new pg.Client({ ...this.#config, pipeline: true })
    const connecting = client.connect().then(async () => {
      this.#losses.made(client)
      if (this.#plansOnce) await planOnce(client)
      this.#connected = client
      return client
    })
    const forget = () => {
      if (this.#client === connecting) this.#client = undefined
      if (this.#connected === client) this.#connected = undefined
    }
    // Queries under way are rejected by the driver itself; the events only say that the connection is gone.
    client.on('error', forget)
    client.on('end', forget)
    connecting.catch(forget)
    return connecting
  }
}

/** A connection of which nobody would know is not left behind. */
async function planOnce(client: pg.Client): Promise<void> {
  try {
    await client.query('set plan_cache_mode = force_generic_plan')
  } catch (error) {
    void endConnection(client)
    throw error
  }
}
