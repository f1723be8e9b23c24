import { once } from 'node:events'
import pg from 'pg'
import { type BulkOrders, type OrderRow, orderColumns } from '../bulk-rows.ts'
import { DatabaseRefused, DatabaseUnavailable } from '../errors.ts'
import { translatePostgresError } from './errors.ts'

const connectTimeoutMilliseconds = 10_000

/** See `addOrders`. Others go on reading and writing meanwhile. */
export async function addOrdersToPostgres(url: string, orders: BulkOrders): Promise<{ total: number }> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'countersign seed',
    connectionTimeoutMillis: connectTimeoutMilliseconds,
    keepAlive: true,
  })
  // The loss of the connection is reported by the query that runs into it.
  client.on('error', () => undefined)
  try {
    await client.connect()
    // One snapshot: what others add meanwhile is not counted.
    await client.query('begin isolation level repeatable read')
    await client.query(
      `select set_config(name, '0', true) from pg_settings where name in
         ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`,
    )
    const before = await countOrders(client)
    await copyIn(client, orders)
    const total = await countOrders(client)
    if (total !== before + orders.count) {
      throw new DatabaseRefused(
        `DATABASE_URL: ${total - before} of ${orders.count} orders arrived; nothing was kept`,
      )
    }
    await client.query('commit')
    await client.query('analyze orders')
    return { total }
  } catch (error) {
    throw explain(error)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** The part of the driver's connection that COPY speaks through; its types leave it out. */
interface CopyConnection {
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
  sendCopyFail(message: string): void
  stream: NodeJS.WritableStream & { writableNeedDrain: boolean }
}

/**
 * A statement of the driver (its Submittable) that sends the batches as COPY, as fast as the server takes them. Of all
 * ways in it is the cheapest for both sides.
 */
function copyIn(client: pg.Client, orders: BulkOrders): Promise<void> {
  return new Promise((resolve, reject) => {
    let failure: unknown
    client.query({
      submit: (connection: unknown) =>
        (connection as CopyConnection).query(`copy orders (${orderColumns.join(', ')}) from stdin`),
      handleCopyInResponse(connection: CopyConnection) {
        sendBatches(connection, orders).then(
          () => connection.endCopyFrom(),
          (error: unknown) => {
            failure = error
            connection.sendCopyFail('the batches ended early')
          },
        )
      },
      handleCommandComplete: () => undefined,
      handleReadyForQuery: () => resolve(),
      handleError: (error: unknown) => reject(failure ?? error),
    } as unknown as pg.Submittable)
  })
}

async function sendBatches(connection: CopyConnection, { batches, onRows }: BulkOrders): Promise<void> {
  let sent = 0
  for (const batch of batches) {
    connection.sendCopyFromChunk(Buffer.from(batch.map(toLine).join('')))
    sent += batch.length
    onRows(sent)
    if (connection.stream.writableNeedDrain) await drained(connection.stream)
  }
}

/** Rejects when the connection ends instead. */
async function drained(stream: NodeJS.WritableStream): Promise<void> {
  const over = new AbortController()
  const { signal } = over
  try {
    await Promise.race([
      once(stream, 'drain', { signal }),
      once(stream, 'close', { signal }).then(() => {
        throw new DatabaseUnavailable('the connection was lost')
      }),
    ])
  } finally {
    over.abort()
  }
}

/** A line of COPY's text format. https://www.postgresql.org/docs/18/sql-copy.html */
function toLine(row: OrderRow): string {
  return `${row.map((value) => (typeof value === 'string' ? escaped(value) : (value ?? '\\N'))).join('\t')}\n`
}

function escaped(text: string): string {
  return /[\\\t\n\r]/.test(text)
    ? text.replace(/[\\\t\n\r]/g, (sign) => ({ '\t': '\\t', '\n': '\\n', '\r': '\\r' })[sign] ?? '\\\\')
    : text
}

async function countOrders(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ count: string }>('select count(*) as count from orders')
  return Number(rows[0]?.count)
}

function explain(error: unknown): unknown {
  if (error instanceof pg.DatabaseError) {
    return new DatabaseRefused(`DATABASE_URL: PostgreSQL refused the orders (${error.code})`, {
      cause: error,
    })
  }
  const translated = translatePostgresError(error)
  if (!(translated instanceof DatabaseUnavailable)) return error
  return new DatabaseRefused(`DATABASE_URL: PostgreSQL cannot be used: ${translated.message}`, {
    cause: error,
  })
}
