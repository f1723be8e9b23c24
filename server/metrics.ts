import { createServer } from 'node:http'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { contradictionOf, headOfLog, oldestUnsealed } from './audit/audit.ts'
import { reportOnWitnesses } from './audit/witnesses/report.ts'
import type { Witnesses } from './audit/witnesses/witnesses.ts'
import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import { parseDatabaseUrl } from './db/address.ts'
import type { AppDatabase } from './db/port.ts'
import { warningNames, warningsInWords } from './http/health.ts'
import type { App } from './http/route.ts'
import type { Log } from './log.ts'
import type { Post } from './mail/post.ts'
import { waitingMails } from './mail/store.ts'
import { type Backlog, reportOnOutbox } from './outbox/report.ts'
import type { Sender } from './outbox/sender.ts'
import { socketPathOf } from './setting.ts'
import { readVersion } from './version.ts'
import { findWarnings } from './warnings.ts'

export interface Metrics {
  close(): Promise<void>
}

export interface MetricsParts {
  app: App
  config: Config
  db: AppDatabase
  log: Log
  clock: Clock
  witnesses: Witnesses
  /** Undefined if the service sends no mail. */
  post: Post | undefined
  /** Undefined if the service sends no events. */
  sender: Sender | undefined
}

/** Prometheus metrics, on a separate listener so that they never reach the public port. */
export async function startMetrics(parts: MetricsParts, port: number): Promise<Metrics> {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  // Drop the library's gauges whose names look like counters: it exports them again under better names.
  for (const { name, type } of registry.getMetricsAsArray()) {
    if (String(type) === 'gauge' && name.endsWith('_total')) registry.removeSingleMetric(name)
  }
  watchRequests(registry, parts.app)
  const scraped = [ofService, ofWitnesses, ofMail, ofOutbox].flatMap((metricsOf) => metricsOf(parts))
  for (const metric of scraped) registerScraped(registry, metric)
  const server = createServer(async (request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    response.writeHead(200, { 'content-type': registry.contentType }).end(await registry.metrics())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    const { host } = parts.config
    // A socket has no other port.
    server.listen(port, socketPathOf(host) === undefined ? host : '127.0.0.1', resolve)
  })
  return {
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/** Sign-ins, by the operation that exchanges a credential. */
const flows: Record<string, string> = {
  loginSession: 'session',
  confirmSession: 'confirmation',
  changePassword: 'password-change',
  issueToken: 'token',
  issueServiceToken: 'client',
}

function watchRequests(registry: Registry, app: App): void {
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first hook to the end of the answer.',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers: [registry],
  })
  const signIns = new Counter({
    name: 'countersign_sign_ins_total',
    help: 'Sign-ins that succeeded, and those that were refused by the code of the problem.',
    labelNames: ['flow', 'outcome'],
    registers: [registry],
  })
  const beyondLog = new Counter({
    name: 'countersign_readers_beyond_log_total',
    help: 'Streams asked for after a place that the log does not have yet: the reader is wrong, or the log went back.',
    registers: [registry],
  })
  app.addHook('onSend', async (request) => {
    if (request.isBeyondLog) beyondLog.inc()
  })
  app.addHook('onResponse', async (request, reply) => {
    const operation = request.routeOptions.schema?.operationId ?? 'none'
    duration.observe({ operation, status: String(reply.statusCode) }, reply.elapsedTime / 1000)
    const flow = flows[operation]
    if (flow !== undefined) signIns.inc({ flow, outcome: request.problem ?? 'succeeded' })
  })
}

/** By label values. */
type Sample = [labels: Record<string, string>, value: number]

/** A metric that is read at each scrape: a counter if its name ends with `_total`, else a gauge. */
interface ScrapedMetric {
  name: string
  help: string
  labelNames?: string[]
  read(): Sample[] | Promise<Sample[]>
}

/** The sample of a metric without labels; none for undefined. */
const only = (value: number | undefined): Sample[] => (value === undefined ? [] : [[{}, value]])

/** A reading that fails has no value, and harms no other. */
function registerScraped(registry: Registry, { labelNames = [], read, ...description }: ScrapedMetric): void {
  const Kind = description.name.endsWith('_total') ? Counter : Gauge
  new Kind({
    ...description,
    labelNames,
    registers: [registry],
    async collect() {
      const samples = await Promise.try(read).catch(() => [])
      // Only now: another scrape may have read meanwhile.
      this.reset()
      // Without labels it would be 0.
      if (labelNames.length === 0) this.remove()
      for (const [labels, value] of samples) this.inc(labels, value)
    },
  })
}

/** In seconds; 0 without an instant. */
const ageOf = (clock: Clock, at: number | null | undefined) =>
  at == null ? 0 : Math.max(0, clock() - at) / 1000

function ofService(parts: MetricsParts): ScrapedMetric[] {
  const { config, db, clock, log } = parts
  return [
    {
      name: 'countersign_build_info',
      help: 'Versions of the service and of Node, and the engine of its database. Always 1.',
      labelNames: ['version', 'node', 'engine'],
      read: () => {
        const { engine } = parseDatabaseUrl(config.database.databaseUrl)
        return [[{ version: readVersion(), node: process.versions.node, engine }, 1]]
      },
    },
    {
      name: 'countersign_database_work',
      help: 'Writes and lists that run or wait for their turn, connections that are busy or idle, and who waits for one.',
      labelNames: ['of', 'state'],
      read: () =>
        Object.entries(db.load()).flatMap(([of, states]) =>
          Object.entries(states).map(([state, count]): Sample => [{ of, state }, count]),
        ),
    },
    {
      name: 'countersign_warning',
      help: `1 for each warning of GET /health/ready. ${warningsInWords}`,
      labelNames: ['warning'],
      read: async () => {
        const found = await findWarnings(parts)
        return warningNames.map((warning) => [{ warning }, Number(found.includes(warning))])
      },
    },
    {
      name: 'countersign_events_sealed',
      help: 'Events in the log: the sequence of the newest.',
      read: async () => only((await headOfLog(db.read)).size),
    },
    {
      name: 'countersign_events_seal_lag_seconds',
      help: 'Age of the oldest event that waits to be sealed; 0 if none waits. More than 2 means that no instance seals.',
      read: async () => only(ageOf(clock, await oldestUnsealed(db.read))),
    },
    {
      name: 'countersign_log_contradicted',
      help: '1 while a quorum of witnesses contradicts the log, so that nothing is sealed or signed.',
      read: async () => only(Number((await contradictionOf(db.read)) !== undefined)),
    },
    {
      name: 'countersign_log_lines_left_out_total',
      help: 'Lines that were left out of the log because its reader did not keep up.',
      labelNames: ['kind'],
      read: () => Object.entries(log.output.leftOut ?? {}).map(([kind, lines]) => [{ kind }, lines]),
    },
  ]
}

function ofWitnesses({ db, clock, witnesses }: MetricsParts): ScrapedMetric[] {
  if (witnesses.list.length === 0) return []
  const report = () => reportOnWitnesses(db.read, witnesses)
  return [
    {
      name: 'countersign_log_quorum_age_seconds',
      help: 'How long ago a quorum of witnesses last cosigned a checkpoint.',
      read: async () => {
        const { quorumAt } = await report()
        return only(quorumAt && ageOf(clock, quorumAt))
      },
    },
    {
      name: 'countersign_log_uncosigned_events',
      help: 'Events in the log that no checkpoint covers which a quorum cosigned.',
      read: async () => only((await report()).uncosignedEvents),
    },
    {
      name: 'countersign_witness_age_seconds',
      help: 'How long ago each witness last cosigned a checkpoint.',
      labelNames: ['witness'],
      read: async () =>
        (await report()).witnesses.flatMap(({ name: witness, cosignedAt }): Sample[] =>
          cosignedAt === undefined ? [] : [[{ witness }, ageOf(clock, cosignedAt)]],
        ),
    },
    {
      name: 'countersign_witness_contradicts',
      help: '1 if the witness has a checkpoint that does not lead to this log.',
      labelNames: ['witness'],
      read: async () =>
        (await report()).witnesses.map(({ name: witness, contradicts }) => [
          { witness },
          Number(contradicts !== undefined),
        ]),
    },
  ]
}

function ofMail({ db, clock, post }: MetricsParts): ScrapedMetric[] {
  if (post === undefined) return []
  return [
    {
      name: 'countersign_mail_attempts_total',
      help: 'Mails that this instance sent, and attempts that failed.',
      labelNames: ['kind', 'outcome'],
      read: () =>
        Object.entries(post.outcomes).flatMap(([outcome, counts]) =>
          [...counts].map(([kind, count]): Sample => [{ kind, outcome }, count]),
        ),
    },
    {
      name: 'countersign_mail_waiting',
      help: 'Mails that wait to be sent.',
      read: async () => only((await waitingMails(db.read)).count),
    },
    {
      name: 'countersign_mail_oldest_seconds',
      help: 'How long the oldest of them has waited; 0 if none waits.',
      read: async () => only(ageOf(clock, (await waitingMails(db.read)).oldestAt)),
    },
  ]
}

function ofOutbox({ db, clock, sender }: MetricsParts): ScrapedMetric[] {
  if (sender === undefined) return []
  const labelNames = ['kind', 'subscription']
  const each = async (read: (backlog: Backlog) => number) =>
    (await reportOnOutbox(db.read)).map((backlog): Sample => {
      const { kind, id: subscription } = backlog
      return [{ kind, subscription }, read(backlog)]
    })
  return [
    {
      name: 'countersign_outbox_attempts_total',
      help: 'Attempts of this instance to send an event: delivered, failed, and failed for the last time.',
      labelNames: ['outcome'],
      read: () => Object.entries(sender.outcomes).map(([outcome, count]) => [{ outcome }, count]),
    },
    {
      name: 'countersign_outbox_waiting',
      help: 'Events of the log after the place of each enabled subscription, whether it asks for them or not.',
      labelNames,
      read: () => each(({ waiting }) => waiting),
    },
    {
      name: 'countersign_outbox_oldest_seconds',
      help: 'Age of the oldest of them; 0 if none waits.',
      labelNames,
      read: () => each(({ oldestAt }) => ageOf(clock, oldestAt)),
    },
  ]
}
