import { randomBytes, randomInt } from 'node:crypto'
import { statSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import { latestEventTime } from './audit/audit.ts'
import { type LogKeys, loadLogKeys } from './audit/checkpoints/checkpoints.ts'
import { startCheckpoints } from './audit/checkpoints/hourly.ts'
import { startWitnessing } from './audit/witnesses/watch.ts'
import { loadWitnesses, type Witnesses } from './audit/witnesses/witnesses.ts'
import { hasAccounts } from './auth/accounts/store.ts'
import { countLockedOut } from './auth/credentials/passkeys/store.ts'
import { Passwords } from './auth/credentials/passwords/passwords.ts'
import { loadSigningKeys, type SigningKeys } from './auth/credentials/tokens/keys.ts'
import { clockDifferenceMilliseconds, formatInstant, systemClock } from './clock.ts'
import { type Config, ConfigurationError, publicUrlAt, readConfig } from './config.ts'
import { type CourierParts, webhookSending } from './couriers.ts'
import { databaseFile } from './db/address.ts'
import type { AppDatabase } from './db/port.ts'
import type { Refusal } from './db/refusals.ts'
import { announceDemo, isUnseeded, prepareDemo } from './demo/demo.ts'
import { resetAnswers } from './http/connections.ts'
import type { Readiness } from './http/health.ts'
import type { App } from './http/route.ts'
import { isWebAppBuilt } from './http/spa.ts'
import { createLog, type Log } from './log.ts'
import type { MailParts } from './mail/mail.ts'
import { Post, startPost } from './mail/post.ts'
import { Smtp } from './mail/smtp.ts'
import type { Metrics, MetricsParts } from './metrics.ts'
import { type Resolve, systemNames } from './names.ts'
import { jobs, mailKinds, openAppDatabase } from './operations.ts'
import { Sender, startOutbox } from './outbox/sender.ts'
import { countSubscriptions } from './outbox/store.ts'
import { socketPathOf } from './setting.ts'
import { listenAtSocket } from './socket.ts'
import { FailureReport, startUpkeep } from './upkeep.ts'
import { isPackage } from './version.ts'
import { watchClock } from './warnings.ts'

export interface ServeOptions {
  development: boolean
  allowRemoteDemo: boolean
  /** Development only: put demo orders into an empty database. */
  demoOrders: boolean
}

/** The keys of an instance, from the configuration or, in development, generated at start; its witnesses. */
interface InstanceKeys {
  signing: SigningKeys
  log: LogKeys
  witnesses: Witnesses
  antiforgery: Buffer
  /** In development, for a service without WEBHOOK_KEY_FILE. */
  webhooks: Buffer | undefined
}

/** How long running requests may still take after the drain. */
const gracePeriodMilliseconds = 10_000
/** How long work that was begun, such as a mail on its way, has until the database closes. */
const endingMilliseconds = 2_000
/** How long the last lines of the log may wait for its reader. */
const lastLinesMilliseconds = 1_000
/** The releases of each line that the tests ran on. Older ones lack security fixes. */
const testedNode: Record<number, readonly number[]> = { 24: [24, 22, 3], 26: [26, 10, 0] }
const randomSteps = 2 ** 32

/**
 * Starts the service, which runs until a signal ends it. Resolves once it listens. Throws
 * `ConfigurationError` or `DatabaseRefused` if it cannot start, after closing everything.
 */
export async function serve(options: ServeOptions): Promise<void> {
  const config = readConfig(process.env, options)
  const log = await createLog(config)
  warnOfOldNode(log)
  warnOfOpenFiles(config, log)
  await prepareWebApp(config, log)
  const keys = await loadKeys(config)
  for (const why of keys.witnesses.skipped) log.warn({ event: 'witness-skipped' }, why)
  const db = await openAppDatabase({
    ...config.database,
    isForService: true,
    onNotice: (message) => log.warn(message),
    onRefusal: reportRefusals(log),
  })
  try {
    await warnOfClock(db, log)
    await prepareAccounts(db, options)
    await requireWebhookKey(db, config)
    // Development is always at localhost.
    if (config.publicUrl !== undefined) await warnOfPasskeys(db, log, config.publicUrl)
  } catch (error) {
    await db.close()
    throw error
  }
  const port = await listenOrClose(config, log, keys, db)
  if (config.development) announceDemo(config, publicUrlAt(config, port))
}

/** One line when the database begins to refuse changes, and one when it takes them again. */
function reportRefusals(log: Log): (refusal: Refusal | undefined) => void {
  const report = new FailureReport(log, {
    fails: 'the database takes no changes; writes are answered with 503',
    works: 'the database takes changes again',
  })
  return (refusal) => report.note(refusal, { event: 'database-refuses', refusal })
}

/**
 * In development the service builds the web app from its sources. In production `npm run build` does. The
 * package has the app without its sources.
 */
async function prepareWebApp(config: Config, log: Log): Promise<void> {
  if (config.development && !isPackage) {
    const { buildWebIfStale } = await import('../web/build.ts')
    await buildWebIfStale(() => log.info('building the web app: the first start takes up to a minute')).catch(
      (error) => log.warn({ err: error }, 'the web app could not be built'),
    )
  }
  if (!isWebAppBuilt()) log.warn('the web app is not built: run npm run build and start again')
}

async function loadKeys(config: Config): Promise<InstanceKeys> {
  const signing = await loadSigningKeys(config.signingKeyFiles, config.signingAlgorithm)
  const log = loadLogKeys(config.logKeyFiles)
  const witnesses = await loadWitnesses(config)
  const webhooks = config.development ? randomBytes(32) : undefined
  return { signing, log, witnesses, antiforgery: config.antiforgeryKey ?? randomBytes(32), webhooks }
}

/**
 * Listens and returns the port. From then on a signal ends the service gracefully: it finishes running
 * requests, then closes the database. If this throws, everything is closed.
 */
async function listenOrClose(config: Config, log: Log, keys: InstanceKeys, db: AppDatabase): Promise<number> {
  const readiness: Readiness = { phase: 'serving' }
  const closeAll = async () => {
    await app?.close()
    await metrics?.close()
    const ended = Promise.all(stops.map((stop) => stop()))
    await Promise.race([ended, wait(endingMilliseconds, undefined, { ref: false })])
    await db.close()
  }
  let app: App | undefined
  let metrics: Metrics | undefined
  const stops: (() => void | Promise<void>)[] = []
  let port: number
  const parts = { db, clock: systemClock, config, log }
  const publicUrl = () => publicUrlAt(config, port)
  const resolve = systemNames()
  const post = postOf(config, { ...parts, publicUrl, defaultTimeZone: config.defaultTimeZone }, resolve)
  const sender = senderOf(keys, parts, publicUrl)
  try {
    // Starts SQLite's writer while the app loads: a seventh of the start (ADR 25). Not awaited: loading
    // blocks the event loop, so the ping may time out although the database has answered.
    db.ping().catch(() => undefined)
    const { buildApp } = await import('./app.ts')
    app = await buildApp({
      config,
      db,
      clock: systemClock,
      log,
      keys: keys.signing,
      logKeys: keys.log,
      antiforgeryKey: keys.antiforgery,
      webhookKey: keys.webhooks,
      readiness,
      resolve,
    })
    metrics = await listenForMetrics({ app, ...parts, witnesses: keys.witnesses, post, sender })
    await post?.begin()
    stops.push(await listenForRequests(app, config))
    port = (app.server.address() as AddressInfo).port
  } catch (error) {
    await closeAll()
    throw error
  }
  stops.push(...startUpkeep({ ...parts, jobs }), watchClock(systemClock, log))
  const checkpointParts = { ...parts, keys: keys.log, publicUrl }
  // Nobody keeps the checkpoints of a development service, and their line would be longer than the banner.
  if (!config.development) stops.push(startCheckpoints(log, checkpointParts))
  if (keys.witnesses.list.length > 0) {
    stops.push(startWitnessing({ ...checkpointParts, witnesses: keys.witnesses, resolve }))
  }
  if (post !== undefined) stops.push(startPost(post))
  if (sender !== undefined) stops.push(startOutbox(sender))
  process.once('exit', resetAnswers)
  const logger = { error: (err: unknown) => log.error({ err }) }
  // The balancer sends callers elsewhere before the listener closes, so that no request meets a closed one.
  const drainMilliseconds = config.drainSeconds * 1000
  closeWithGrace({ delay: drainMilliseconds + gracePeriodMilliseconds, logger }, async ({ signal, err }) => {
    readiness.phase = 'draining'
    if (err) log.fatal({ err }, 'ending after an unexpected error')
    else log.info({ signal }, 'shutting down')
    await wait(drainMilliseconds)
    readiness.phase = 'closing'
    await closeAll()
    await log.output.drained?.(lastLinesMilliseconds)
  })
  return port
}

/** Sends events to subscribers; undefined if the service has no key for that. */
function senderOf(
  { log: logKeys, webhooks: webhookKey }: InstanceKeys,
  parts: Omit<CourierParts, 'logKeys'> & { log: Log },
  publicUrl: () => string,
): Sender | undefined {
  const { sending } = webhookSending({ ...parts, logKeys, webhookKey }, publicUrl)
  const random = () => randomInt(randomSteps) / randomSteps
  return sending === null
    ? undefined
    : new Sender({ ...parts, couriers: { webhook: sending.courier }, random })
}

/** Sends mail; undefined if the service sends none. */
function postOf(
  { smtpUrl, mailFrom, organisationName }: Config,
  parts: MailParts & { log: Log },
  resolve: Resolve,
): Post | undefined {
  if (smtpUrl === undefined || mailFrom === undefined) return undefined
  return new Post({
    ...parts,
    smtp: new Smtp(smtpUrl, mailFrom, resolve),
    kinds: mailKinds,
    organisationName,
  })
}

/** Development fills an empty database. Production refuses demo accounts, whose passwords are public. */
async function prepareAccounts(db: AppDatabase, { development, demoOrders }: ServeOptions): Promise<void> {
  if (!development) {
    if (!(await hasAccounts(db.read, true))) return
    throw new ConfigurationError([
      'DATABASE_URL: the database has demo accounts, whose passwords are public. Give them new passwords and secrets, or use another database',
    ])
  }
  if (!(await isUnseeded(db.read))) return
  const input = await prepareDemo({ nowMilliseconds: systemClock(), passwords: new Passwords(), demoOrders })
  await db.write('seedDemo', input)
}

/** Webhooks without their signatures would be refused by every receiver. */
async function requireWebhookKey(db: AppDatabase, config: Config): Promise<void> {
  if (config.development || config.webhookKeyFile !== undefined) return
  if ((await countSubscriptions(db.read, 'webhook')) === 0) return
  throw new ConfigurationError([
    'WEBHOOK_KEY_FILE: required because the database has webhooks, whose secrets are derived from it',
  ])
}

function warnOfOldNode(log: Log): void {
  const running = process.versions.node.split('.').map(Number)
  const tested = testedNode[running[0] ?? 0] ?? running
  const older = tested.findIndex((part, index) => part !== running[index])
  if (older >= 0 && (running[older] ?? 0) < (tested[older] ?? 0)) {
    log.warn(`Node ${process.versions.node} is older than ${tested.join('.')} and may lack security fixes`)
  }
}

const day = 86_400_000
/** A service that is used has an event on most days. */
const quietDays = 30

/** With a wrong clock, tokens and links end too early or too late, and the log has wrong times. */
async function warnOfClock(db: AppDatabase, log: Log): Promise<void> {
  const latest = await latestEventTime(db.read)
  if (latest === undefined) return
  const age = systemClock() - latest
  const at = formatInstant(latest)
  if (age < -clockDifferenceMilliseconds) log.warn(`the clock is wrong, or was: the latest event is of ${at}`)
  if (age > quietDays * day) {
    log.warn(
      `the latest event is ${Math.floor(age / day)} days old (${at}): check the clock if that is unlikely`,
    )
  }
}

/** A browser offers a passkey under the host name of its enrolment only. */
async function warnOfPasskeys(db: AppDatabase, log: Log, publicUrl: string): Promise<void> {
  const { hostname } = new URL(publicUrl)
  const { people, lockedOut } = await countLockedOut(db.read, hostname)
  if (people === 0) return
  log.warn(
    `PUBLIC_URL: the passkeys of ${people} people are for another host than ${hostname}; ${lockedOut} of them cannot sign in`,
  )
}

/** Anyone who can read a key can sign with it, and the database holds password hashes. */
function warnOfOpenFiles(
  {
    signingKeyFiles,
    logKeyFiles,
    antiforgeryKeyFile,
    webhookKeyFile,
    databasePasswordFile,
    oidcClientSecretFile,
    database,
  }: Config,
  log: Log,
): void {
  // Windows has no such modes.
  if (process.platform === 'win32') return
  const files = [
    ...signingKeyFiles.map((file) => ['SIGNING_KEY_FILES', file] as const),
    ...logKeyFiles.map((file) => ['LOG_KEY_FILES', file] as const),
    ['ANTIFORGERY_KEY_FILE', antiforgeryKeyFile] as const,
    ['WEBHOOK_KEY_FILE', webhookKeyFile?.file] as const,
    ['DATABASE_PASSWORD_FILE', databasePasswordFile] as const,
    ['OIDC_CLIENT_SECRET_FILE', oidcClientSecretFile?.file] as const,
    ['DATABASE_URL', databaseFile(database.databaseUrl)] as const,
  ]
  for (const [setting, file] of files) {
    if (file !== undefined && isOpen(file)) {
      log.warn(`${setting}: every account of this machine may read or write ${file}`)
    }
  }
}

const othersMayUse = 0o006

/** A file that cannot be examined is refused later, with the reason. */
function isOpen(file: string): boolean {
  try {
    return (statSync(file).mode & othersMayUse) !== 0
  } catch {
    return false
  }
}

/** Returns what is to be done after the app has closed. */
async function listenForRequests(app: App, config: Config): Promise<() => void> {
  const { host, port } = config
  const path = socketPathOf(host)
  if (path !== undefined) return listenAtSocket(path, app)
  await explained('PORT', port, host, () =>
    app.listen({ host, port, listenTextResolver: (at) => `listening at ${at}` }),
  )
  return () => undefined
}

async function listenForMetrics(parts: MetricsParts): Promise<Metrics | undefined> {
  const { metricsPort, host } = parts.config
  if (metricsPort === undefined) return undefined
  const { startMetrics } = await import('./metrics.ts')
  return explained('METRICS_PORT', metricsPort, host, () => startMetrics(parts, metricsPort))
}

async function explained<T>(
  setting: string,
  port: number,
  host: string,
  listen: () => Promise<T>,
): Promise<T> {
  try {
    return await listen()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') throw new ConfigurationError([`${setting}: ${port} is in use at ${host}`])
    if (code === 'EACCES')
      throw new ConfigurationError([`${setting}: ${port} may not be used by this account`])
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new ConfigurationError([`HOST: ${host} is not an address of this machine`])
    }
    throw error
  }
}
