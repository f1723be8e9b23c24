import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseUnavailable, isConnectionLoss, TooManyWaiting } from '../errors.ts'
import {
  type GroupedOperation,
  type GroupedOperations,
  type WriteOperation,
  type WriteOperations,
  waitingWritesLimit,
} from '../port.ts'
import type { Db } from '../tables.ts'
import { isConflict, withCurrentStatements } from './driver.ts'
import { patienceMilliseconds, WriteGroup } from './group.ts'

const conflictTries = 5

export interface WritesParts {
  operations: WriteOperations
  groupedOperations: GroupedOperations
  transactions: Db
  /** Transactions with the limits of a group. */
  groupTransactions: Db
}

/**
 * The writes of one process, alone or in groups. Operations run here, in READ COMMITTED, where the
 * conditional UPDATE decides.
 */
export class Writes {
  readonly #operations: WriteOperations
  readonly #transactions: Db
  readonly #groups: Map<string, WriteGroup>
  readonly #underWay = new Set<Promise<unknown>>()
  #isClosed = false

  constructor({ operations, groupedOperations, transactions, groupTransactions }: WritesParts) {
    this.#operations = operations
    this.#transactions = transactions
    this.#groups = new Map(
      Object.entries(groupedOperations).map(([name, runGroup]) => {
        const together = (inputs: unknown[]) =>
          this.#run(groupTransactions, runGroup, inputs) as Promise<unknown[]>
        return [name, new WriteGroup({ together, alone: (input) => this.#runAlone(name, input) })]
      }),
    )
  }

  write(name: string, input: unknown): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(new DatabaseUnavailable('the database has been closed'))
    if (this.#underWay.size >= waitingWritesLimit) {
      return Promise.reject(new TooManyWaiting('too many writes wait'))
    }
    const written = this.#groups.get(name)?.write(input) ?? this.#runAlone(name, input)
    this.#underWay.add(written)
    const forget = () => this.#underWay.delete(written)
    written.then(forget, forget)
    return written
  }

  get underWay(): number {
    return this.#underWay.size
  }

  /** Refuses new writes, and waits for running ones. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#underWay)
  }

  #runAlone(name: string, input: unknown): Promise<unknown> {
    const operation = this.#operations[name]
    if (operation === undefined) return Promise.reject(new Error(`no operation ${name}`))
    return this.#run(this.#transactions, operation, input)
  }

  /**
   * Runs the operation again after a conflict, because nothing was written, and once more on a connection
   * lost before the commit was sent. A connection lost during the commit is passed on: its outcome is
   * unknown.
   */
  async #run(
    transactions: Db,
    run: WriteOperation | GroupedOperation,
    // biome-ignore lint/suspicious/noExplicitAny: of the operation
    input: any,
  ): Promise<unknown> {
    const transaction = transactions.transaction().setIsolationLevel('read committed')
    const startedAt = performance.now()
    let isRetriedAfterLoss = false
    for (let attempt = 1; ; attempt += 1) {
      let isCommitting = false
      try {
        return await withCurrentStatements(() =>
          transaction.execute(async (trx) => {
            const result = await run(trx, input)
            isCommitting = true
            return result
          }),
        )
      } catch (error) {
        const isPrompt = performance.now() - startedAt < patienceMilliseconds
        if (isConflict(error) && attempt < conflictTries) {
          await delay(5 * attempt)
        } else if (isConnectionLoss(error) && !isCommitting && !isRetriedAfterLoss && isPrompt) {
          isRetriedAfterLoss = true
        } else {
          throw isConflict(error) ? new DatabaseUnavailable('too many conflicts', { cause: error }) : error
        }
      }
    }
  }
}
