import cluster, { type Worker } from 'node:cluster'
import { createPrivateKey } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { pino } from 'pino'
import { type Config, ConfigurationError, readConfig } from './config.ts'
import { parseDatabaseUrl } from './db/address.ts'
import { announceDemo } from './demo/demo.ts'
import { createLog } from './log.ts'
import {
  type InstanceKeys,
  listenOrClose,
  loadKeys,
  openDatabase,
  prepareAccounts,
  prepareWebApp,
  type ServeOptions,
  startTogether,
  warnOfOldNode,
  warnOfOpenFiles,
} from './serve.ts'

/** What the parent hands down, over the channel between the two processes only. */
interface HandedKeys {
  antiforgery: string
  /** PKCS #8; null when every process reads the configured files itself. */
  signing: string | null
}

const restartPauseMilliseconds = 500
/** A worker that ends before this is not restarted for ever. */
const healthyAfterMilliseconds = 5_000
const earlyEndsLimit = 5

/**
 * N processes behind one port, on PostgreSQL. The parent migrates, seeds, and makes the keys of a development run; it
 * serves nothing itself. A worker that dies is replaced, and a signal to the parent ends all of them gracefully.
 */
export async function serveCluster(options: ServeOptions): Promise<void> {
  const config = readConfig(process.env, options)
  if (cluster.isWorker) return serveAsWorker(config)
  refuseSqlite(config)
  if (config.metricsPort !== undefined) {
    throw new ConfigurationError([
      'METRICS_PORT: not with --workers, where a scrape would meet one worker at random',
    ])
  }
  const log = await createLog(config)
  warnOfOldNode(log)
  warnOfOpenFiles(config, log)
  await prepareWebApp(config, log)
  const [keys, db] = await startTogether(loadKeys(config), openDatabase(config, log))
  try {
    await prepareAccounts(db, options)
  } finally {
    await db.close()
  }
  const parent = new Parent(config, log, handDown(config, keys))
  const address = await parent.start(options.workers).catch(async (error: unknown) => {
    await parent.abandon()
    throw error
  })
  if (config.development) announceDemo(config, address)
}

/** Measured: two processes writing one SQLite file gain nothing, and their worst waits grow tenfold. */
function refuseSqlite(config: Config): void {
  if (parseDatabaseUrl(config.database.databaseUrl).engine === 'postgres') return
  throw new ConfigurationError([
    'DATABASE_URL: --workers needs PostgreSQL; several processes on one SQLite file wait for one another and gain nothing',
  ])
}

function handDown(config: Config, { signing, antiforgery }: InstanceKeys): HandedKeys {
  const isMadeHere = config.signingKeyFiles.length === 0
  return {
    antiforgery: antiforgery.toString('base64'),
    signing: isMadeHere ? signing.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() : null,
  }
}

class Parent {
  readonly #config: Config
  readonly #log: pino.Logger
  readonly #keys: HandedKeys
  /** Until every worker listens, one that ends fails the start instead of being replaced. */
  #isStarting = true
  #isEnding = false
  #earlyEnds = 0

  constructor(config: Config, log: pino.Logger, keys: HandedKeys) {
    this.#config = config
    this.#log = log
    this.#keys = keys
  }

  /** Resolves with the address once every worker listens. */
  async start(count: number): Promise<string> {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => this.#end(signal))
    const addresses = await Promise.all(Array.from({ length: count }, () => this.#fork()))
    this.#isStarting = false
    return addresses[0] ?? ''
  }

  /** After a start that failed: ends the workers that did start, and waits for them. */
  async abandon(): Promise<void> {
    const exits = Object.values(cluster.workers ?? {}).flatMap((worker) =>
      worker ? [once(worker, 'exit')] : [],
    )
    this.#end('SIGTERM')
    await Promise.all(exits)
  }

  async #fork(): Promise<string> {
    const worker = cluster.fork()
    const startedAt = performance.now()
    worker.once('exit', (code, signal) => this.#ended(worker, code, signal, performance.now() - startedAt))
    worker.once('message', () => worker.send(this.#keys))
    const [address] = (await Promise.race([
      once(worker, 'listening'),
      once(worker, 'exit').then(() => {
        throw new ConfigurationError(['a worker ended before it listened; its own lines say why'])
      }),
    ])) as [{ port: number }]
    return `http://${this.#config.host}:${address.port}`
  }

  async #ended(worker: Worker, code: number, signal: string, lifeMilliseconds: number): Promise<void> {
    if (this.#isEnding || this.#isStarting) return
    this.#log.error({ pid: worker.process.pid, code, signal }, 'a worker ended; starting another')
    this.#earlyEnds = lifeMilliseconds < healthyAfterMilliseconds ? this.#earlyEnds + 1 : 0
    if (this.#earlyEnds >= earlyEndsLimit) {
      this.#log.fatal('workers keep ending right after their start')
      process.exitCode = 1
      this.#end('SIGTERM')
      return
    }
    await delay(restartPauseMilliseconds)
    if (!this.#isEnding) await this.#fork().catch((error: unknown) => this.#log.error({ err: error }))
  }

  /** Every worker answers what is under way; a second signal ends them at once. */
  #end(signal: NodeJS.Signals): void {
    const forwarded = this.#isEnding ? 'SIGKILL' : 'SIGTERM'
    if (!this.#isEnding) this.#log.info({ signal }, 'shutting down all workers')
    this.#isEnding = true
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill(forwarded)
  }
}

async function serveAsWorker(config: Config): Promise<void> {
  process.send?.('keys')
  const [handed] = (await once(process, 'message')) as [HandedKeys]
  // A parent that died without a word leaves no orphans.
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  const log = await createLog(config)
  try {
    const [keys, db] = await startTogether(receiveKeys(config, handed), openDatabase(config, log))
    await listenOrClose(config, log, keys, db)
  } catch (error) {
    // The channel to the parent would keep this process alive with nothing to serve.
    process.disconnect?.()
    throw error
  }
}

async function receiveKeys(config: Config, handed: HandedKeys): Promise<InstanceKeys> {
  const antiforgery = Buffer.from(handed.antiforgery, 'base64')
  if (handed.signing === null) return { ...(await loadKeys(config)), antiforgery }
  const { signingKeysOf } = await import('./auth/tokens/keys.ts')
  return {
    antiforgery,
    signing: await signingKeysOf([createPrivateKey(handed.signing)], config.signingAlgorithm),
  }
}
