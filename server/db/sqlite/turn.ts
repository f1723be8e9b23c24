import type Sqlite from 'better-sqlite3'
import { translateErrors } from './driver.ts'

/**
 * One read transaction for all small reads in one turn of the event loop. With a separate one for each read,
 * a GET took 40 µs instead of 34. The reads wait only for this connection, which answers at once, so none
 * outlives the turn. The transaction ends before the results of a thread are delivered. So if a caller has
 * seen an answer, from the writer or a reader, the next read finds at least that state.
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

  /** An error may have ended the transaction, and the connection may be closed. */
  end(): void {
    if (!this.#open) return
    this.#open = false
    if (this.#connection.inTransaction) this.#commit.run()
  }
}
