import type Sqlite from 'better-sqlite3'
import { QueryTooSlow } from '../errors.ts'
import { translateErrors } from './driver.ts'

/** What reads that promised to be quick may take in the main thread. */
const quickMilliseconds = 3

/**
 * Ends quick reads that take longer than they should after all; each then begins again in a thread. Those that run at the
 * same time, a query of one after a query of another, have the time of the first together: they hold the event loop
 * together too.
 */
export class QuickReads {
  #running = 0
  #deadline = Number.POSITIVE_INFINITY

  constructor(connection: Sqlite.Database) {
    connection.function('within_time', () => {
      if (performance.now() > this.#deadline) throw new QueryTooSlow('the query is not quick')
      return 1
    })
  }

  async run<Output>(work: () => Promise<Output>): Promise<Output | undefined> {
    if (this.#running === 0) this.#deadline = performance.now() + quickMilliseconds
    this.#running += 1
    try {
      return await work()
    } catch (error) {
      if (error instanceof QueryTooSlow) return undefined
      throw error
    } finally {
      this.#running -= 1
      if (this.#running === 0) this.#deadline = Number.POSITIVE_INFINITY
    }
  }
}

/**
 * One read transaction for all small reads of a turn of the event loop: to begin and end one for each costs a third of a
 * read. They wait for nothing but this connection, which answers at once, so none outlives the turn. It ends before
 * a thread's results are told, so that whoever has seen an answer, to a write or from a reader, finds what it says.
 */
export class TurnSnapshot {
  readonly #connection: Sqlite.Database
  readonly #begin: Sqlite.Statement
  readonly #commit: Sqlite.Statement
  readonly #end = () => this.end()
  #open = false

  constructor(connection: Sqlite.Database) {
    this.#connection = connection
    this.#begin = connection.prepare('begin')
    this.#commit = connection.prepare('commit')
  }

  begin(): void {
    if (this.#open) return
    translateErrors(() => this.#begin.run())
    this.#open = true
    setImmediate(this.#end)
  }

  /** An error may have ended the transaction, and the connection may have been closed. */
  end(): void {
    if (!this.#open) return
    this.#open = false
    if (this.#connection.inTransaction) this.#commit.run()
  }
}
