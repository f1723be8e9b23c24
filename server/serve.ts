import { randomBytes } from 'node:crypto'
import closeWithGrace from 'close-with-grace'
import { pino } from 'pino'
import { buildApp } from './app.ts'
import { hasDemoAccounts } from './auth/account-store.ts'
import { loadSigningKeys } from './auth/keys.ts'
import { Passwords } from './auth/passwords.ts'
import { systemClock } from './clock.ts'
import { type Config, ConfigurationError, readConfig } from './config.ts'
import { openAppDatabase } from './database.ts'
import { startMetrics } from './http/metrics.ts'
import type { AppDatabase } from './operations.ts'
import { demoAccounts, demoClient, isUnseeded, prepareDemo } from './seed.ts'

export interface ServeOptions {
  development: boolean
  allowRemoteDemo: boolean
  /** Development only: put demo orders into an empty database. */
  demoOrders: boolean
}

const gracePeriodMilliseconds = 10_000
/** The release that this version was tested on; older ones of its line lack security fixes. */
const testedNode = [26, 10, 0] as const

/**
 * Runs the service until a signal ends it: resolves once it listens. Throws `ConfigurationError` or
 * `DatabaseRefused`, having let go of everything, when it cannot start.
 */
export async function serve(options: ServeOptions): Promise<void> {
  const config = readConfig(process.env, options)
  const log = await createLog(config)
  const [keys, db] = await startTogether(
    loadSigningKeys(config.signingKeyFiles, config.signingAlgorithm),
    openAppDatabase({ ...config.database, onWaiting: (message) => log.warn(message) }),
  )
  try {
    await prepareAccounts(db, options)
    const readiness = { draining: false }
    const antiforgeryKey = config.antiforgeryKey ?? randomBytes(32)
    const app = await buildApp({ config, db, clock: systemClock, log, keys, antiforgeryKey, readiness })
    const metrics =
      config.metricsPort === undefined ? undefined : await startMetrics(app, config, config.metricsPort)
    const address = await app.listen({
      host: config.host,
      port: config.port,
      listenTextResolver: (at) => `listening at ${at}`,
    })
    closeWithGrace(
      { delay: gracePeriodMilliseconds, logger: { error: (err) => log.error({ err }) } },
      async ({ signal, err }) => {
        readiness.draining = true
        if (err) log.fatal({ err }, 'ending after an unexpected error')
        else log.info({ signal }, 'shutting down')
        await app.close()
        await metrics?.close()
        await db.close()
      },
    )
    warnOfOldNode(log)
    if (config.development) announce(config, address)
  } catch (error) {
    await db.close()
    throw explainListenError(error, config)
  }
}

/** A database that was opened beside keys that fail must not keep the process alive. */
async function startTogether<A>(keys: Promise<A>, opening: Promise<AppDatabase>): Promise<[A, AppDatabase]> {
  const [loaded, opened] = await Promise.allSettled([keys, opening])
  if (loaded.status === 'fulfilled' && opened.status === 'fulfilled') return [loaded.value, opened.value]
  if (opened.status === 'fulfilled') await opened.value.close()
  throw loaded.status === 'rejected' ? loaded.reason : (opened as PromiseRejectedResult).reason
}

/** JSON lines, or readable ones on a terminal. */
async function createLog(config: Config): Promise<pino.Logger> {
  const options = { level: config.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime }
  if (!process.stdout.isTTY) return pino(options)
  const { default: pretty } = await import('pino-pretty')
  return pino(
    options,
    pretty({ colorize: true, ignore: 'requestId', singleLine: true, translateTime: 'HH:MM:ss.l' }),
  )
}

/** Development fills an empty database; production refuses one with accounts whose passwords are public. */
async function prepareAccounts(db: AppDatabase, { development, demoOrders }: ServeOptions): Promise<void> {
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

function warnOfOldNode(log: pino.Logger): void {
  const running = process.versions.node.split('.').map(Number)
  const older = testedNode.findIndex((part, index) => part !== running[index])
  if (older >= 0 && (running[older] ?? 0) < (testedNode[older] ?? 0)) {
    log.warn(
      `Node ${process.versions.node} is older than ${testedNode.join('.')} and may lack security fixes`,
    )
  }
}

function explainListenError(error: unknown, config: Config): unknown {
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

function announce(config: Config, address: string): void {
  const port = new URL(address).port
  const base = config.publicUrl ?? `http://localhost:${port}`
  const people = demoAccounts.map(
    ({ email, password, role }) => `    ${email.padEnd(22)} ${password.padEnd(28)} ${role}`,
  )
  const lines = [
    '',
    `  Countersign (development)   ${base}`,
    `  API browser                 ${base}/scalar/v1`,
    '',
    '  Sign in with                password',
    ...people,
    '  As a service                secret',
    `    ${demoClient.clientId.padEnd(22)} ${demoClient.clientSecret.padEnd(28)}  ${demoClient.role}`,
    '',
    ...(config.allowRemoteDemo
      ? ['  WARNING: these accounts are public, and --allow-remote-demo lets the whole network use them.', '']
      : []),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}
