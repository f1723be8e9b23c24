import { Socket } from 'node:net'
import pg from 'pg'

export interface PostgresOptions {
  url: string
  /** Connections for transactions; single reads share one more. */
  poolSize: number
  /** Behind a pooler that hands out connections by transaction: no named statements, no session settings. */
  transactionPooler: boolean
  /** For a command whose transactions may be long. */
  isPatient: boolean
}

export interface PipelineOptions {
  config: pg.ClientConfig
  losses: ConnectionLosses
  /** Statement that sets up each new connection; undefined if another client may get that connection next. */
  setup: string | undefined
}

export const connectTimeoutMilliseconds = 3_000

/** Makes both engines give the same values: int8 as a number (all of ours are below 2^53). */
export const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, Number)

export interface ConnectionSource {
  acquire(): Promise<pg.Client>
  /** `failed` if the connection may be broken or in the middle of something. */
  release(client: pg.Client, failed: boolean): void
}

/** A source for work that has one connection to itself and keeps it. */
export function onlySource(client: pg.Client): ConnectionSource {
  return { acquire: async () => client, release: () => undefined }
}

/** How long saying goodbye to the server may take. A silent server does not react. */
const goodbyeMilliseconds = 1_000
/** Longer than the service waits for any answer. */
const retirementMilliseconds = 6_000

/** A connection whose socket can be closed by force. */
export class Connection extends pg.Client {
  readonly socket: Socket
  /** By the clock of `performance`. */
  madeAt = Number.NEGATIVE_INFINITY
  acquiredAt = Number.NEGATIVE_INFINITY

  constructor(config: pg.ClientConfig = {}) {
    const socket = new Socket()
    super({ ...config, stream: () => socket })
    this.socket = socket
    // The pool listens only to idle connections, and an error event without a listener ends the process. The
    // running query reports the loss.
    this.on('error', () => undefined)
  }

  /** Says goodbye, and closes the connection by force if the server does not react. */
  async leave(patienceMilliseconds = goodbyeMilliseconds): Promise<void> {
    const timer = setTimeout(() => this.socket.destroy(), patienceMilliseconds)
    await this.end()
    clearTimeout(timer)
  }
}

/**
 * Shared by all connections to one server. After one is lost, those that are as old are not trusted either: a
 * network that dropped one connection has dropped the idle ones too, and each would cost its user the whole
 * wait.
 */
export class ConnectionLosses {
  #last = Number.NEGATIVE_INFINITY

  /** `since`: when the use that failed began. A connection made after that has proved itself. */
  lost(since: number): void {
    this.#last = Math.max(this.#last, since)
  }

  isTrusted({ madeAt }: Connection): boolean {
    return madeAt > this.#last
  }
}

/** Connections for transactions. Each serves one transaction at a time. */
export class PooledConnections implements ConnectionSource {
  readonly #pool: pg.Pool
  readonly #losses: ConnectionLosses
  readonly #open = new Set<Connection>()
  #end: Promise<void> | undefined

  constructor(config: pg.PoolConfig, losses: ConnectionLosses) {
    this.#losses = losses
    this.#pool = new pg.Pool({ ...config, Client: Connection })
    // A connection that dies while idle is replaced when the next one is needed.
    this.#pool.on('error', () => undefined)
    this.#pool.on('connect', (client) => {
      const connection = client as pg.ClientBase as Connection
      connection.madeAt = performance.now()
      this.#open.add(connection)
      connection.once('end', () => this.#open.delete(connection))
    })
  }

  async acquire(): Promise<Connection> {
    for (;;) {
      const client = await this.#pool.connect()
      const connection = client as pg.ClientBase as Connection
      if (this.#losses.isTrusted(connection)) {
        connection.acquiredAt = performance.now()
        return connection
      }
      client.release(true)
    }
  }

  release(connection: Connection, failed: boolean): void {
    if (failed) this.#losses.lost(connection.acquiredAt)
    ;(connection as pg.ClientBase as pg.PoolClient).release(failed)
  }

  get load(): Record<string, number> {
    const { totalCount, idleCount, waitingCount } = this.#pool
    return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount }
  }

  /** Waits for running transactions. */
  close(): Promise<void> {
    this.#end ??= this.#endAll()
    return this.#end
  }

  async #endAll(): Promise<void> {
    await this.#pool.end()
    await Promise.all([...this.#open].map((connection) => connection.leave()))
  }
}

/**
 * One connection shared by all single reads, in the driver's pipeline mode: it sends queries without waiting
 * for earlier answers. It reaches 0.72 of a hand-written server's GETs a second; a pool, with its wake-ups,
 * 0.33. Only single statements may run on it, never a transaction. Connects on first use, and again after a
 * loss.
 */
export class PipelinedConnection implements ConnectionSource {
  readonly #options: PipelineOptions
  readonly #losses: ConnectionLosses
  #connecting: Promise<Connection> | undefined
  #isClosed = false

  constructor(options: PipelineOptions) {
    this.#options = options
    this.#losses = options.losses
  }

  async acquire(): Promise<Connection> {
    if (this.#isClosed) throw new Error('the database has been closed')
    this.#connecting ??= this.#connect()
    const connecting = this.#connecting
    const connection = await connecting
    if (this.#losses.isTrusted(connection)) return connection
    if (this.#connecting === connecting) {
      this.#connecting = undefined
      // Other reads may still be waiting for its answers.
      void connection.leave(retirementMilliseconds)
    }
    return this.acquire()
  }

  release(_connection: Connection, failed: boolean): void {
    if (failed) this.#losses.lost(performance.now())
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const connection = await this.#connecting?.catch(() => undefined)
    this.#connecting = undefined
    await connection?.leave()
  }

  #connect(): Promise<Connection> {
    const connecting = this.#connected(new Connection({ ...this.#options.config, pipeline: true }), () => {
      if (this.#connecting === connecting) this.#connecting = undefined
    })
    return connecting
  }

  /** If the setup fails, the connection is closed. */
  async #connected(connection: Connection, forget: () => void): Promise<Connection> {
    // The driver rejects running queries; the event only says that the connection is gone.
    connection.on('end', forget)
    try {
      await connection.connect()
      connection.madeAt = performance.now()
      if (this.#options.setup) await connection.query(this.#options.setup)
      return connection
    } catch (error) {
      forget()
      void connection.leave()
      throw error
    }
  }
}
