import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

const guard = fileURLToPath(new URL('./postgres-guard.ts', import.meta.url))

/** Option of a test that needs PostgreSQL: false, or why it is skipped. */
export const withoutPostgres = process.env.TEST_DATABASE_URL
  ? false
  : 'needs PostgreSQL: set TEST_DATABASE_URL'

/** A PostgreSQL server that the test may stop, kill and start. */
export interface OwnPostgres {
  url: string
  /** Resolves once it is done; see postgres-guard.ts. */
  tell(command: 'kill9' | 'stop' | 'start' | 'restart'): Promise<void>
  end(): Promise<void>
}

interface ServerOptions {
  /** For tests of durability; without it the server is faster. */
  durable?: boolean
  /** In place of a new server; see postgres-copy.ts. */
  copy?: { native: string; folder: string }
}

export async function startPostgres({ durable, copy }: ServerOptions = {}): Promise<OwnPostgres> {
  const args = [...(durable ? ['--durable'] : []), ...(copy ? [copy.native, copy.folder] : [])]
  const child = spawn(process.execPath, [guard, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const nextLine = async () => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`the guard of PostgreSQL ended with ${child.exitCode}`)
    return value
  }
  const url = await nextLine()
  return {
    url,
    async tell(command) {
      child.stdin.write(`${command}\n`)
      const answer = await nextLine()
      if (answer !== `done ${command}`) throw new Error(answer)
    },
    async end() {
      const exit = once(child, 'exit')
      child.stdin.end()
      await exit
    },
  }
}

/** Runs one statement on a new connection, without the service. */
export async function runSql<Row extends pg.QueryResultRow>(
  url: string,
  statement: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = await connectTo(url)
  try {
    return (await client.query<Row>(statement, values)).rows
  } finally {
    await client.end()
  }
}

/**
 * How many sessions of this database wait for a lock; the views show those of the whole server. Each look has
 * a new connection, because a transaction sees the sessions as they were at its first look.
 */
export async function lockWaiters(url: string): Promise<number> {
  const waiting = `select distinct pid from pg_locks join pg_stat_activity using (pid)
    where datname = current_database() and not granted`
  return (await runSql(url, waiting)).length
}

/** A connection that bypasses the service. Losing it in a fault is not an error. */
export async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  return client
}
