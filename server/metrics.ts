import { createServer } from 'node:http'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { contradictionOf, headOfLog, oldestUnsealed } from './audit/audit.ts'
import { reportOnWitnesses, type WitnessReport } from './audit/witnesses/report.ts'
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
import { reportOnOutbox } from './outbox/report.ts'
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
  describeBuild(registry, parts.config)
  watchRequests(registry, parts.app)
  watchDatabase(registry, parts.db)
  watchWarnings(registry, parts)
  watchEvents(registry, parts)
  if (parts.witnesses.list.length > 0) watchWitnesses(registry, parts)
  if (parts.post !== undefined) watchMail(registry, parts, parts.post)
  if (parts.sender !== undefined) watchOutbox(registry, parts, parts.sender)
  watchLog(registry, parts.log)
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

function describeBuild(registry: Registry, { database }: Config): void {
  const { engine } = parseDatabaseUrl(database.databaseUrl)
  new Gauge({
    name: 'countersign_build_info',
    help: 'Versions of the service and of Node, and the engine of its database. Always 1.',
    labelNames: ['version', 'node', 'engine'],
    registers: [registry],
  }).set({ version: readVersion(), node: process.versions.node, engine }, 1)
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

interface ReadMetric {
  name: string
  help: string
  labelNames?: string[]
}

/** A gauge that is read at each scrape. A reading that fails has no value, and harms no other. */
function readAtScrape(
  registry: Registry,
  { labelNames = [], ...description }: ReadMetric,
  read: (gauge: Gauge) => void | Promise<void>,
): void {
  const empty = (gauge: Gauge) => {
    gauge.reset()
    // Without labels it would be 0.
    if (labelNames.length === 0) gauge.remove()
  }
  new Gauge({
    ...description,
    labelNames,
    registers: [registry],
    async collect() {
      empty(this)
      try {
        await read(this)
      } catch {
        empty(this)
      }
    },
  })
}

function watchDatabase(registry: Registry, db: AppDatabase): void {
  readAtScrape(
    registry,
    {
      name: 'countersign_database_work',
      help: 'Writes and lists that run or wait for their turn, connections that are busy or idle, and who waits for one.',
      labelNames: ['of', 'state'],
    },
    (gauge) => {
      for (const [of, states] of Object.entries(db.load())) {
        for (const [state, count] of Object.entries(states)) gauge.set({ of, state }, count)
      }
    },
  )
}

function watchWarnings(registry: Registry, parts: MetricsParts): void {
  readAtScrape(
    registry,
    {
      name: 'countersign_warning',
      help: `1 for each warning of GET /health/ready. ${warningsInWords}`,
      labelNames: ['warning'],
    },
    async (gauge) => {
      const found = await findWarnings(parts)
      for (const warning of warningNames) gauge.set({ warning }, Number(found.includes(warning)))
    },
  )
}

function watchEvents(registry: Registry, { db, clock }: MetricsParts): void {
  readAtScrape(
    registry,
    { name: 'countersign_events_sealed', help: 'Events in the log: the sequence of the newest.' },
    async (gauge) => gauge.set((await headOfLog(db.read)).size),
  )
  readAtScrape(
    registry,
    {
      name: 'countersign_events_seal_lag_seconds',
      help: 'Age of the oldest event that waits to be sealed; 0 if none waits. More than 2 means that no instance seals.',
    },
    async (gauge) => {
      const at = await oldestUnsealed(db.read)
      gauge.set(at === undefined ? 0 : Math.max(0, clock() - at) / 1000)
    },
  )
  readAtScrape(
    registry,
    {
      name: 'countersign_log_contradicted',
      help: '1 while a quorum of witnesses contradicts the log, so that nothing is sealed or signed.',
    },
    async (gauge) => gauge.set(Number((await contradictionOf(db.read)) !== undefined)),
  )
}

function watchWitnesses(registry: Registry, { db, clock, witnesses }: MetricsParts): void {
  const watched = (description: ReadMetric, show: (gauge: Gauge, report: WitnessReport) => void) =>
    readAtScrape(registry, description, async (gauge) =>
      show(gauge, await reportOnWitnesses(db.read, witnesses)),
    )
  const age = (at: number) => Math.max(0, clock() - at) / 1000
  watched(
    {
      name: 'countersign_log_quorum_age_seconds',
      help: 'How long ago a quorum of witnesses last cosigned a checkpoint.',
    },
    (gauge, { quorumAt }) => quorumAt !== undefined && gauge.set(age(quorumAt)),
  )
  watched(
    {
      name: 'countersign_log_uncosigned_events',
      help: 'Events in the log that no checkpoint covers which a quorum cosigned.',
    },
    (gauge, { uncosignedEvents }) => gauge.set(uncosignedEvents),
  )
  watched(
    {
      name: 'countersign_witness_age_seconds',
      help: 'How long ago each witness last cosigned a checkpoint.',
      labelNames: ['witness'],
    },
    (gauge, report) => {
      for (const { name: witness, cosignedAt } of report.witnesses) {
        if (cosignedAt !== undefined) gauge.set({ witness }, age(cosignedAt))
      }
    },
  )
  watched(
    {
      name: 'countersign_witness_contradicts',
      help: '1 if the witness has a checkpoint that does not lead to this log.',
      labelNames: ['witness'],
    },
    (gauge, report) => {
      for (const { name: witness, contradicts } of report.witnesses) {
        gauge.set({ witness }, Number(contradicts !== undefined))
      }
    },
  )
}

function watchMail(registry: Registry, { db, clock }: MetricsParts, { outcomes }: Post): void {
  new Counter({
    name: 'countersign_mail_attempts_total',
    help: 'Mails that this instance sent, and attempts that failed.',
    labelNames: ['kind', 'outcome'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [outcome, counts] of Object.entries(outcomes)) {
        for (const [kind, count] of counts) this.inc({ kind, outcome }, count)
      }
    },
  })
  readAtScrape(
    registry,
    { name: 'countersign_mail_waiting', help: 'Mails that wait to be sent.' },
    async (gauge) => gauge.set((await waitingMails(db.read)).count),
  )
  readAtScrape(
    registry,
    {
      name: 'countersign_mail_oldest_seconds',
      help: 'How long the oldest of them has waited; 0 if none waits.',
    },
    async (gauge) => {
      const { oldestAt } = await waitingMails(db.read)
      gauge.set(oldestAt === null ? 0 : Math.max(0, clock() - oldestAt) / 1000)
    },
  )
}

function watchOutbox(registry: Registry, { db, clock }: MetricsParts, { outcomes }: Sender): void {
  new Counter({
    name: 'countersign_outbox_attempts_total',
    help: 'Attempts of this instance to send an event: delivered, failed, and failed for the last time.',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [outcome, count] of Object.entries(outcomes)) this.inc({ outcome }, count)
    },
  })
  readAtScrape(
    registry,
    {
      name: 'countersign_outbox_waiting',
      help: 'Events of the log after the place of each enabled subscription, whether it asks for them or not.',
      labelNames: ['kind', 'subscription'],
    },
    async (gauge) => {
      for (const { kind, id, waiting } of await reportOnOutbox(db.read)) {
        gauge.set({ kind, subscription: id }, waiting)
      }
    },
  )
  readAtScrape(
    registry,
    {
      name: 'countersign_outbox_oldest_seconds',
      help: 'Age of the oldest of them; 0 if none waits.',
      labelNames: ['kind', 'subscription'],
    },
    async (gauge) => {
      for (const { kind, id, oldestAt } of await reportOnOutbox(db.read)) {
        const age = oldestAt === undefined ? 0 : Math.max(0, clock() - oldestAt) / 1000
        gauge.set({ kind, subscription: id }, age)
      }
    },
  )
}

function watchLog(registry: Registry, { output }: Log): void {
  new Counter({
    name: 'countersign_log_lines_left_out_total',
    help: 'Lines that were left out of the log because its reader did not keep up.',
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [kind, lines] of Object.entries(output.leftOut ?? {})) this.inc({ kind }, lines)
    },
  })
}
