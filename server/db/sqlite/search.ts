import type Sqlite from 'better-sqlite3'

/**
 * Puts off the text search of orders that a transaction adds (schema.ts): the search index writes itself out for each
 * statement that adds to it, which costs as much as everything else that is done for an order. Both calls belong to one
 * transaction: nobody else ever sees it put off.
 */
export class DeferredSearch {
  readonly #defer: Sqlite.Statement
  readonly #index: Sqlite.Statement
  readonly #resume: Sqlite.Statement

  constructor(connection: Sqlite.Database) {
    this.#defer = connection.prepare(
      'update orders_search_deferral set indexed_to = (select coalesce(max(seq), 0) from orders)',
    )
    this.#index = connection.prepare(
      `insert into orders_search (rowid, customer_folded)
         select seq, customer_folded from orders where seq > (select indexed_to from orders_search_deferral)`,
    )
    this.#resume = connection.prepare('update orders_search_deferral set indexed_to = 9223372036854775807')
  }

  defer(): void {
    this.#defer.run()
  }

  /** What was added since `defer`. */
  indexAdded(): void {
    this.#index.run()
    this.#resume.run()
  }
}
