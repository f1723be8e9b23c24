import type { Socket } from 'node:net'
import pg from 'pg'
import type { ConnectionSource } from './driver.ts'

/** How long a goodbye may take; a server that is silent does not hear it. */
const goodbyeMilliseconds = 1_000

/**
 * Shared by all connections to one server: once one of them was lost, those that are as old are not trusted either. A
 * network that forgot one connection forgot the idle ones too, and each would cost its user the whole wait.
 */
export class ConnectionLosses {
  #last = Number.NEGATIVE_INFINITY
  readonly #madeAt = new WeakMap<pg.ClientBase, number>()

  made(client: pg.ClientBase): void {
    this.#madeAt.set(client, performance.now())
  }

  /** `sinceMilliseconds`: when the use began that found it out. What was made after that has proved itself. */
  lost(sinceMilliseconds: number): void {
    this.#last = Math.max(this.#last, sinceMilliseconds)
  }

  isTrusted(client: pg.ClientBase): boolean {
    return (this.#madeAt.get(client) ?? 0) > this.#last
  }
}

/** Connections for transactions, one for each at a time. */
export class PooledConnections implements ConnectionSource {
  readonly #pool: pg.Pool
  readonly #losses: ConnectionLosses
  readonly #open = new Set<pg.Client>()
  #end: Promise<void> | undefined
  readonly #acquiredAt = new WeakMap<pg.ClientBase, number>()

  constructor(config: pg.PoolConfig, losses: ConnectionLosses) {
    this.#losses = losses
    this.#pool = new pg.Pool(config)
    // A connection that dies while idle is replaced when the next one is needed.
    this.#pool.on('error', () => undefined)
    this.#pool.on('connect', (client) => {
      this.#losses.made(client)
      this.#open.add(client as pg.Client)
      client.once('end', () => this.#open.delete(client as pg.Client))
      // The pool listens to idle connections only, and an event that nobody hears ends the process. The query that
      // is under way reports the loss.
      client.on('error', () => undefined)
    })
  }

  async acquire(): Promise<pg.ClientBase> {
    for (;;) {
      const client = await this.#pool.connect()
      if (this.#losses.isTrusted(client)) {
        this.#acquiredAt.set(client, performance.now())
        return client
      }
      client.release(true)
    }
  }

  release(client: pg.ClientBase, failed: boolean): void {
    if (failed) this.#losses.lost(this.#acquiredAt.get(client) ?? 0)
    ;(client as pg.PoolClient).release(failed)
  }

  /** Waits for the transactions under way. */
  close(): Promise<void> {
    this.#end ??= this.#endAll()
    return this.#end
  }

  async #endAll(): Promise<void> {
    await this.#pool.end()
    await Promise.all([...this.#open].map((client) => endConnection(client)))
  }
}

/** Ends the connection, by force when the server does not take notice. */
export async function endConnection(
  client: pg.Client,
  patienceMilliseconds = goodbyeMilliseconds,
): Promise<void> {
  const timer = setTimeout(() => streamOf(client).destroy(), patienceMilliseconds)
  await client.end()
  clearTimeout(timer)
}

/** The driver has no name for it. */
export function streamOf(client: pg.ClientBase): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream
}
