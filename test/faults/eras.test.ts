// engine: both
import assert from 'node:assert/strict'
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { readCheckpoint, readNote } from '../../proof/note.ts'
import { startWitness } from '../../witness/test/running.ts'
import { Client } from '../support/client.ts'
import { createTestDatabase, testEngine, withRawDatabase } from '../support/database.ts'
import { isLong } from '../support/faults.ts'
import { assertSound } from '../support/history.ts'
import { assertWholeTree } from '../support/kept-log.ts'
import { commandsOf, type Machine, runOn } from '../support/operations-page.ts'
import { createdId } from '../support/orders.ts'
import { connectTo } from '../support/postgres.ts'
import { assertProblem } from '../support/problem.ts'
import { at, bearerOf, newProduction } from '../support/production.ts'
import { openStream, type Stream, until } from '../support/stream.ts'
import { startScripted } from '../support/witness.ts'
import { logKey, settingOf } from '../support/witnessed.ts'

/** The service of the machine, as the page has it started and stopped. */
type Service = Pick<Machine, 'stop' | 'start'>

/** How the operator of an engine makes a backup and goes back to it, by docs/operations.md. */
interface Operator {
  backUp(): Promise<unknown>
  restore(service: Service): Promise<unknown>
  /** Puts the backup in place without the command that begins the next era. The service is stopped. */
  putInPlace(): Promise<unknown>
  /** Returns what the command prints that begins the next era. */
  beginEra(): Promise<string>
}

/** Starts and stops nothing. */
const noService: Service = { stop: () => assert.fail(), start: () => assert.fail() }

async function sqliteOperator(t: TestContext, databaseUrl: string): Promise<Operator> {
  const backups = await mkdtemp(join(tmpdir(), 'countersign-backups-'))
  t.after(() => rm(backups, { recursive: true }))
  const run = (commands: readonly string[] = [], service = noService) =>
    runOn({ databaseUrl, backups, ...service }, commands)
  const backup = commandsOf('Backup')
    .flat()
    .filter((command) => command.includes('main.ts'))
  const [restore, begin] = commandsOf('Restore')
  return {
    backUp: () => run(backup),
    restore: (service) => run(restore, service),
    async putInPlace() {
      const [file = ''] = await readdir(backups)
      await copyFile(join(backups, file), databaseUrl.slice('file:'.length))
    },
    beginEra: () => run(begin),
  }
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
  const putInPlace = () =>
    administer(`drop database ${name} with (force)`, `alter database ${name}_backup rename to ${name}`)
  const begin = commandsOf('Backup and restore').at(-1) ?? []
  const beginEra = () => runOn({ databaseUrl, backups: '', ...noService }, begin)
  return {
    backUp: () => administer(`create database ${name}_backup template ${name}`),
    async restore({ stop, start }) {
      await stop()
      await putInPlace()
      await beginEra()
      await start()
    },
    putInPlace,
    beginEra,
  }
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

async function create(baseUrl: string, caller: Client, count: number): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < count) ids.push(await createdId(at(baseUrl, caller)))
  return ids
}

/** A list may have orders whose events are not sealed yet: so these are. */
async function createSealed(baseUrl: string, caller: Client, count: number): Promise<string[]> {
  const ids = await create(baseUrl, caller, count)
  await untilSealed(baseUrl, caller, ids)
  return ids
}

async function untilSealed(baseUrl: string, caller: Client, ids: string[]): Promise<void> {
  const history = () => at(baseUrl, caller).get(`/v1/orders/${ids.at(-1)}/history`)
  await until(async () => (await history()).body.items[0].sequence !== null)
}

async function operated(t: TestContext) {
  const { databaseUrl, drop } = await createTestDatabase()
  t.after(drop)
  const production = await newProduction({ databaseUrl })
  t.after(() => production.remove())
  const operator =
    testEngine === 'sqlite' ? await sqliteOperator(t, databaseUrl) : postgresOperator(databaseUrl)
  return { databaseUrl, production, operator }
}

async function assertWhole(databaseUrl: string): Promise<void> {
  await withRawDatabase(databaseUrl, async (db) => {
    await assertSound(db)
    await assertWholeTree(db)
  })
}

describe('a database that goes back to its backup', () => {
  it('has its readers begin again: nothing is read twice or missed', async (t) => {
    const { databaseUrl, production, operator } = await operated(t)
    let server = await production.serve()
    const caller = await bearerOf(server.baseUrl, 'operator')
    const reader = new Reader(caller)
    await reader.readList(server.baseUrl)
    let stream = await reader.follow(server.baseUrl)
    const first = await createSealed(server.baseUrl, caller, 5)
    await stream.hears(5)
    await reader.leave()
    await server.stop()
    await operator.backUp()

    server = await production.serve()
    stream = await reader.follow(server.baseUrl)
    const lost = await createSealed(server.baseUrl, caller, 5)
    await stream.hears(5)
    await reader.leave()
    assert.deepEqual([reader.read, stream.resets], [[...first, ...lost], 0])
    await operator.restore({
      stop: () => server.stop(),
      start: async () => {
        server = await production.serve()
      },
    })
    const meanwhile = await createSealed(server.baseUrl, caller, 3)
    stream = await reader.follow(server.baseUrl)
    await until(() => stream.resets === 1)
    await reader.leave()
    await reader.readList(server.baseUrl)
    stream = await reader.follow(server.baseUrl)
    const later = await createSealed(server.baseUrl, caller, 4)
    await until(() => later.every((id) => stream.told.some((change) => change.id === id)))
    await reader.leave()
    assert.deepEqual(reader.read.toSorted(), [...first, ...meanwhile, ...later].toSorted())
    assert.equal(stream.resets, 0)
    assert.match(stream.lastEventId, /^2\./)
    await assertWhole(databaseUrl)
  })
})

describe('a database that goes back without the command', () => {
  it('stops the log once a quorum of witnesses says so; after the command nothing is read twice or missed', {
    skip: testEngine !== 'sqlite' && !isLong,
  }, async (t) => {
    const { databaseUrl, production, operator } = await operated(t)
    const keys = [await logKey(1), await logKey(2)]
    const honest = [await startWitness(t, keys), await startWitness(t, keys)]
    for (const witness of honest) witness.now = Date.now()
    const lying = await startScripted(t, (_, response) => void response.writeHead(409).end('999999\n'))
    const env = { LOG_WITNESSES: settingOf([...honest, lying]), LOG_WITNESS_QUORUM: '2' }
    /** An instance asks its witnesses as soon as it starts. */
    const serveUntilAsked = async () => {
      const started = await production.serve(env)
      await started.printed('has a checkpoint of 999999 events')
      return started
    }
    const probe = () => new Client(server.baseUrl).get('/health/ready')
    const checkpoint = () => at(server.baseUrl, caller).get('/v1/log/checkpoint?latest=true')
    const sizeNow = async () => readCheckpoint(readNote((await checkpoint()).text).text).size

    let server = await production.serve(env)
    const caller = await bearerOf(server.baseUrl, 'admin')
    const reader = new Reader(caller)
    const first = await createSealed(server.baseUrl, caller, 5)
    const backedUp = await sizeNow()
    await server.stop()
    await operator.backUp()

    server = await production.serve(env)
    await createSealed(server.baseUrl, caller, 5)
    await reader.readList(server.baseUrl)
    await server.stop()
    server = await serveUntilAsked()
    assert.equal(await sizeNow(), backedUp + 5)
    assert.equal((await probe()).status, 200)
    await server.stop()
    await operator.putInPlace()

    server = await serveUntilAsked()
    const answer = await probe()
    assertProblem(answer, 503, 'log-contradicted')
    const sizes = answer.body.witnesses.map(({ size }: { size: number }) => size)
    assert.deepEqual([answer.body.size, sizes.sort()], [backedUp, [backedUp + 5, backedUp + 5, 999_999]])
    assertProblem(await checkpoint(), 503, 'log-contradicted')
    let stream = await reader.follow(server.baseUrl)
    const meanwhile = await create(server.baseUrl, caller, 3)
    await until(() => stream.resets === 1)
    const said = await operator.beginEra()
    assert.match(said, new RegExp(`^Era 2 of the log begins after event ${backedUp},`))
    await until(() => stream.resets === 2)
    await until(async () => (await probe()).status === 200)
    await untilSealed(server.baseUrl, caller, meanwhile)
    await reader.leave()
    await reader.readList(server.baseUrl)
    stream = await reader.follow(server.baseUrl)
    const later = await createSealed(server.baseUrl, caller, 4)
    await until(() => later.every((id) => stream.told.some((change) => change.id === id)))
    await reader.leave()
    assert.deepEqual(reader.read.toSorted(), [...first, ...meanwhile, ...later].toSorted())
    assert.deepEqual([await sizeNow(), stream.resets], [backedUp + 8, 0])
    await assertWhole(databaseUrl)
  })
})
