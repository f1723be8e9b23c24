import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runCommand } from '../cli/command-line.ts'
import type { Client } from '../support/client.ts'
import { createTestDatabase, testEngine, withRawDatabase } from '../support/database.ts'
import { assertSound } from '../support/history.ts'
import { assertWholeTree } from '../support/kept-log.ts'
import { createdId } from '../support/orders.ts'
import { connectTo } from '../support/postgres.ts'
import { at, bearerOf, newProduction } from '../support/production.ts'
import { openStream, type Stream, until } from '../support/stream.ts'

/** How the operator of an engine makes a backup and goes back to it, while the service is stopped. */
interface Operator {
  backUp(): Promise<void>
  restore(): Promise<void>
}

function sqliteOperator(databaseUrl: string): Operator {
  const file = databaseUrl.slice('file:'.length)
  const run = (command: string) => runs(`${command} ${file}.backup`, databaseUrl)
  return { backUp: () => run('backup'), restore: () => run('restore') }
}

/** A copy of the database by the server stands for its tools. The command follows, as after a recovery. */
function postgresOperator(databaseUrl: string): Operator {
  const name = new URL(databaseUrl).pathname.slice(1)
  const server = new URL('/postgres', databaseUrl).href
  async function administer(...statements: string[]): Promise<void> {
    const client = await connectTo(server)
    for (const statement of statements) await client.query(statement)
    await client.end()
  }
  return {
    backUp: () => administer(`create database ${name}_backup template ${name}`),
    async restore() {
      await administer(
        `drop database ${name} with (force)`,
        `alter database ${name}_backup rename to ${name}`,
      )
      await runs('log restored', databaseUrl)
    },
  }
}

async function runs(command: string, databaseUrl: string): Promise<void> {
  const { status, stderr } = await runCommand(command, '', '.', { DATABASE_URL: databaseUrl })
  assert.equal(status, 0, stderr)
}

/** Has read orders from a list, and from then on by the live list alone. */
class Reader {
  readonly #caller: Client
  read: string[] = []
  #place = ''
  #stream: Stream | undefined

  constructor(caller: Client) {
    this.#caller = caller
  }

  async readList(baseUrl: string): Promise<void> {
    const { body, headers } = await at(baseUrl, this.#caller).get('/v1/orders?pageSize=100')
    this.read = body.items.map(({ id }: { id: string }) => id)
    this.#place = headers.get('last-event-id') ?? ''
  }

  /** Goes on from its place, as after a lost connection. */
  async follow(baseUrl: string): Promise<Stream> {
    this.#stream = await openStream(at(baseUrl, this.#caller), { 'last-event-id': this.#place })
    return this.#stream
  }

  /** Takes what the stream has brought, and leaves it. */
  async leave(): Promise<void> {
    const { told = [], lastEventId = '' } = this.#stream ?? {}
    this.read.push(...told.map(({ id }) => id))
    this.#place = lastEventId
    this.#stream?.close()
    await this.#stream?.ends()
  }
}

/** A list may have orders whose events are not sealed yet: so these are. */
async function create(baseUrl: string, caller: Client, count: number): Promise<string[]> {
  const here = at(baseUrl, caller)
  const ids: string[] = []
  while (ids.length < count) ids.push(await createdId(here))
  const sealed = async () => (await here.get(`/v1/orders/${ids.at(-1)}/history`)).body.items[0].sequence
  await until(async () => (await sealed()) !== null)
  return ids
}

describe('a database that goes back to its backup', () => {
  it('has its readers begin again: nothing is read twice or missed', async (t) => {
    const { databaseUrl, drop } = await createTestDatabase()
    t.after(drop)
    const production = await newProduction({ databaseUrl })
    t.after(() => production.remove())
    const operator = testEngine === 'sqlite' ? sqliteOperator(databaseUrl) : postgresOperator(databaseUrl)

    let server = await production.serve()
    const caller = await bearerOf(server.baseUrl, 'operator')
    const reader = new Reader(caller)
    await reader.readList(server.baseUrl)
    let stream = await reader.follow(server.baseUrl)
    const first = await create(server.baseUrl, caller, 5)
    await stream.hears(5)
    await reader.leave()
    await server.stop()
    await operator.backUp()

    server = await production.serve()
    stream = await reader.follow(server.baseUrl)
    const lost = await create(server.baseUrl, caller, 5)
    await stream.hears(5)
    await reader.leave()
    assert.deepEqual([reader.read, stream.resets], [[...first, ...lost], 0])
    await server.stop()
    await operator.restore()

    server = await production.serve()
    const meanwhile = await create(server.baseUrl, caller, 3)
    stream = await reader.follow(server.baseUrl)
    await until(() => stream.resets === 1)
    await reader.leave()
    await reader.readList(server.baseUrl)
    stream = await reader.follow(server.baseUrl)
    const later = await create(server.baseUrl, caller, 4)
    await until(() => later.every((id) => stream.told.some((change) => change.id === id)))
    await reader.leave()
    assert.deepEqual(reader.read.toSorted(), [...first, ...meanwhile, ...later].toSorted())
    assert.equal(stream.resets, 0)
    assert.match(stream.lastEventId, /^2\./)
    await withRawDatabase(databaseUrl, async (db) => {
      await assertSound(db)
      await assertWholeTree(db)
    })
  })
})
