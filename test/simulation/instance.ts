import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buildApp } from '../../server/app.ts'
import { type LogKeys, loadLogKeys } from '../../server/audit/checkpoints/checkpoints.ts'
import { Witnessing } from '../../server/audit/witnesses/watch.ts'
import type { Witnesses } from '../../server/audit/witnesses/witnesses.ts'
import { type SigningKeys, signingKeysOf } from '../../server/auth/credentials/tokens/keys.ts'
import { type Config, readConfig } from '../../server/config.ts'
import { webhookSending } from '../../server/couriers.ts'
import type { AppDatabase } from '../../server/db/port.ts'
import type { App } from '../../server/http/route.ts'
import { makeLog } from '../../server/log.ts'
import { Post } from '../../server/mail/post.ts'
import type { Smtp } from '../../server/mail/smtp.ts'
import { systemNames } from '../../server/names.ts'
import { mailKinds } from '../../server/operations.ts'
import { Sender } from '../../server/outbox/sender.ts'
import { publicUrl } from '../support/service.ts'
import { keyFiles, keyPems } from '../support/signing-key.ts'
import { toReceivers } from '../support/webhooks.ts'
import type { SimulatedDatabase } from './database.ts'
import type { Leases } from './leases.ts'
import type { Letters } from './letters.ts'
import type { Receivers } from './receivers.ts'
import { Life, Task } from './task.ts'

const log = makeLog({ level: 'fatal' }, { write: () => undefined })

/** Settings and keys, which all instances share. */
export interface Common {
  config: Config
  keys: SigningKeys
  logKeys: LogKeys
}

export async function readCommon(databaseUrl: string): Promise<Common> {
  const env = {
    ...{ NODE_ENV: 'production', HOST: '127.0.0.1', PUBLIC_URL: publicUrl, DATABASE_URL: databaseUrl },
    ...{ ANTIFORGERY_KEY: Buffer.alloc(32, 7).toString('base64'), RATE_LIMIT_FACTOR: '0' },
    ...keyFiles(),
    ...toReceivers,
  }
  const config = readConfig(env, { development: false })
  const keys = await signingKeysOf([createPrivateKey(keyPems().signing)], config.signingAlgorithm)
  return { config, keys, logKeys: loadLogKeys(config.logKeyFiles) }
}

/** The world around an instance. */
export interface Around {
  database: SimulatedDatabase
  receivers: Receivers
  letters: Letters
  witnesses: Witnesses
  now(): number
  /** Milliseconds of the simulation, for what only goes forward. */
  monotonic(): number
  leases: Leases
}

/** One instance of the service. Its jobs run when the simulation says so. */
export class Instance {
  readonly #common: Common
  readonly #around: Around
  readonly #db: AppDatabase
  life = new Life()
  /** How far its clock is ahead. */
  ahead = 0
  sender: Sender
  post: Post
  witnessing: Witnessing
  baseUrl = ''
  #app: App | undefined
  readonly #requests = new Map<string, Task>()

  constructor(common: Common, around: Around) {
    this.#common = common
    this.#around = around
    this.#db = portOf(around)
    ;({ sender: this.sender, post: this.post, witnessing: this.witnessing } = this.#parts())
  }

  readonly clock = () => this.#around.now() + this.ahead

  /** The port as the jobs of this instance use it. */
  get db(): AppDatabase {
    return this.#db
  }

  async listen(): Promise<void> {
    const { config, keys, logKeys } = this.#common
    const antiforgeryKey = config.antiforgeryKey ?? Buffer.alloc(32)
    const readiness = { phase: 'serving' } as const
    const parts = { config, db: this.#db, clock: this.clock, log, keys, logKeys, antiforgeryKey, readiness }
    const app = await buildApp(parts)
    await app.ready()
    const handlers = app.server.listeners('request') as ((...given: unknown[]) => void)[]
    app.server.removeAllListeners('request')
    app.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const handle = () => {
        for (const handler of handlers) handler.call(app.server, request, response)
      }
      const task = this.#requests.get(String(request.headers['x-simulated']))
      if (task === undefined) handle()
      else task.enter(handle)
    })
    await app.listen({ host: '127.0.0.1', port: 0 })
    this.baseUrl = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
    this.#app = app
  }

  /** The header of requests that are part of the task. */
  headerOf(task: Task, number: number): Record<string, string> {
    this.#requests.set(String(number), task)
    return { 'x-simulated': String(number) }
  }

  /** As another process. */
  startAgain(): void {
    this.life.end()
    this.life = new Life()
    Object.assign(this, this.#parts())
  }

  async close(): Promise<void> {
    this.life.end()
    await this.#app?.close()
  }

  #parts() {
    const { config, logKeys } = this.#common
    const { receivers, letters, leases, witnesses, monotonic, database } = this.#around
    const [db, clock] = [this.#db, this.clock]
    const direct = {
      get read() {
        return database.port.read
      },
    } as AppDatabase
    const { sending } = webhookSending({ config, db: direct, clock, logKeys }, () => publicUrl)
    assert.ok(sending !== null)
    const { courier } = sending
    const webhook: typeof sending.courier = Object.assign(Object.create(courier), {
      deliver: (...[subscription, event, signal]: Parameters<typeof courier.deliver>) =>
        calling(() => {
          leases.require('outbox')
          receivers.to = subscription.id
          receivers.sending = Task.current
          return courier.deliver(subscription, event, signal)
        }),
    })
    const smtp = {
      host: 'mail.example.com',
      send: (letter: Parameters<Smtp['send']>[0]) => calling(() => letters.send(letter)),
      close: () => undefined,
    } as unknown as Smtp
    const parts = { db, clock, log: log as never, publicUrl: () => publicUrl }
    const leaseMilliseconds = 20_000
    const random = () => 0.5
    return {
      sender: new Sender({ ...parts, couriers: { webhook }, random, monotonic, leaseMilliseconds }),
      post: new Post({
        ...parts,
        defaultTimeZone: 'Europe/Berlin',
        organisationName: undefined,
        smtp,
        kinds: mailKinds,
      }),
      witnessing: new Witnessing({
        ...parts,
        ...{ keys: logKeys, witnesses, resolve: systemNames(), signal: new AbortController().signal },
        // It asks several at once, and the first to answer reads on first.
        db: portOf(this.#around, false),
      }),
    }
  }
}

/** Within a task, a call that the task can be disturbed at. */
const calling = <T>(work: () => Promise<T>, isWrite = false): Promise<T> =>
  Task.current === undefined ? work() : Task.current.call(work, isWrite)

/** The database as an instance reaches it. */
function portOf({ database, leases, now }: Around, areReadsCalls = true): AppDatabase {
  const plugin = {
    transformQuery: ({ node }: { node: never }) => node,
    transformResult: ({ result }: { result: never }) => calling(async () => result),
  }
  let [opened, read] = [database.port, database.port.read.withPlugin(plugin as never)]
  const own = {
    get read() {
      if (!areReadsCalls) return database.port.read
      if (opened !== database.port) {
        opened = database.port
        read = opened.read.withPlugin(plugin as never)
      }
      return read
    },
    query: (...given: Parameters<AppDatabase['query']>) => calling(() => database.port.query(...given)),
    write: (name: 'holdLease', input: never) =>
      calling(async () => {
        if (['holdLease', 'runJob'].includes(name)) await database.moveLeases(now())
        const result = await database.port.write(name, input)
        leases.note(name, input, result)
        return result
      }, true),
  }
  // All else is that of the database which is open now.
  return new Proxy(own, {
    get: (_, name) => Reflect.get(name in own ? own : database.port, name),
  }) as never
}
