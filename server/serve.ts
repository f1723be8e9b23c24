import cluster from 'node:cluster'
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import type { pino } from 'pino'
import { buildApp } from './app.ts'
import { hasDemoAccounts } from './auth/account-store.ts'
import { loadSigningKeys, type SigningKeys } from './auth/keys.ts'
import { Passwords } from './auth/passwords.ts'
import { systemClock } from './clock.ts'
import { type Config, ConfigurationError, readConfig } from './config.ts'
import { openAppDatabase } from './database.ts'
import { startMetrics } from './http/metrics.ts'
import { createLog } from './log.ts'
import type { AppDatabase } from './operations.ts'
import { isUnseeded, prepareDemo } from './seed.ts'
import { announceDemo } from './serve-banner.ts'

export interface ServeOptions {
  development: boolean
  allowRemoteDemo: boolean
  /** Development only: put demo orders into an empty database. */
  demoOrders: boolean
  /** Processes that serve; 1 is this process alone. */
  workers: number
}

/** The keys of an instance: from the configuration, or made for this run in development. */
export interface InstanceKeys {
  signing: SigningKeys
  antiforgery: Buffer
}

const gracePeriodMilliseconds = 10_000
/** How long connections in use are told to go elsewhere before the rest is closed: no request meets a closed one. */
const drainMilliseconds = 500
/** The release that this version was tested on; older ones of its line lack security fixes. */
const testedNode = [26, 10, 0] as const

/**
 * Runs the service until a signal ends it: resolves once it listens. Throws `ConfigurationError` or
 * `DatabaseRefused`, having let go of everything, when it cannot start.
 */
export async function serve(options: ServeOptions): Promise<void> {
  if (options.workers > 1 || cluster.isWorker) {
    const { serveCluster } = await import('./cluster.ts')
    return serveCluster(options)
  }
  const config = readConfig(process.env, options)
  const log = await createLog(config)
  warnOfOldNode(log)
  const [keys, db] = await startTogether(loadKeys(config), openDatabase(config, log))
  try {
    await prepareAccounts(db, options)
    const address = await listen(config, log, keys, db)
    if (config.development) announceDemo(config, address)
  } catch (error) {
    await db.close()
    throw explainListenError(error, config)
  }
}

export async function loadKeys(config: Config): Promise<InstanceKeys> {
  const signing = await loadSigningKeys(config.signingKeyFiles, config.signingAlgorithm)
  return { signing, antiforgery: config.antiforgeryKey ?? randomBytes(32) }
}

export function openDatabase(config: Config, log: pino.Logger): Promise<AppDatabase> {
  return openAppDatabase({ ...config.database, onWaiting: (message) => log.warn(message) })
}

/** A database that was opened beside keys that fail must not keep the process alive. */
export async function startTogether(
  keys: Promise<InstanceKeys>,
  opening: Promise<AppDatabase>,
): Promise<[InstanceKeys, AppDatabase]> {
  const [loaded, opened] = await Promise.allSettled([keys, opening])
  if (loaded.status === 'fulfilled' && opened.status === 'fulfilled') return [loaded.value, opened.value]
  if (opened.status === 'fulfilled') await opened.value.close()
  throw loaded.status === 'rejected' ? loaded.reason : (opened as PromiseRejectedResult).reason
}

/** Listens, and from then on ends gracefully on a signal: answers what is under way, then lets go of the database. */
export async function listen(
  config: Config,
  log: pino.Logger,
  keys: InstanceKeys,
  db: AppDatabase,
): Promise<string> {
  const readiness = { draining: false }
  const app = await buildApp({
    config,
    db,
    clock: systemClock,
    log,
    keys: keys.signing,
    antiforgeryKey: keys.antiforgery,
    readiness,
  })
  const metrics =
    config.metricsPort === undefined ? undefined : await startMetrics(app, config, config.metricsPort)
  const address = await app.listen({
    host: config.host,
    port: config.port,
    listenTextResolver: (at) => `listening at ${at}`,
  })
  const logger = { error: (err: unknown) => log.error({ err }) }
  closeWithGrace({ delay: gracePeriodMilliseconds, logger }, async ({ signal, err }) => {
    readiness.draining = true
    if (err) log.fatal({ err }, 'ending after an unexpected error')
    else log.info({ signal }, 'shutting down')
    if (!config.development) await wait(drainMilliseconds)
    await app.close()
    await metrics?.close()
    await db.close()
    if (cluster.isWorker) process.disconnect?.()
  })
  return address
}

/** Development fills an empty database; production refuses one with accounts whose passwords are public. */
export async function prepareAccounts(
  db: AppDatabase,
  { development, demoOrders }: ServeOptions,
): Promise<void> {
  if (!development) {
    if (!(await hasDemoAccounts(db.read))) return
    throw new ConfigurationError([
      'DATABASE_URL: the database has demo accounts, whose passwords are public: give them new passwords and secrets, or use another database',
    ])
  }
  if (!(await isUnseeded(db.read))) return
  const input = await prepareDemo({ nowMilliseconds: systemClock(), passwords: new Passwords(), demoOrders })
  await db.write('seedDemo', input)
}

export function warnOfOldNode(log: pino.Logger): void {
  const running = process.versions.node.split('.').map(Number)
  const older = testedNode.findIndex((part, index) => part !== running[index])
  if (older >= 0 && (running[older] ?? 0) < (testedNode[older] ?? 0)) {
    log.warn(
      `Node ${process.versions.node} is older than ${testedNode.join('.')} and may lack security fixes`,
    )
  }
}

export function explainListenError(error: unknown, config: Config): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE')
    return new ConfigurationError([`PORT: ${config.port} is in use at ${config.host}`])
  if (code === 'EACCES')
    return new ConfigurationError([`PORT: ${config.port} may not be used by this account`])
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new ConfigurationError([`HOST: ${config.host} is not an address of this machine`])
  }
  return error
}
