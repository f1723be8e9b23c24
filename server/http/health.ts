import type { AppDatabase } from '../db/port.ts'
import { Problem, retryAfter } from '../problems/problems.ts'
import { named } from './fields.ts'
import { type App, type Routes, route } from './route.ts'
import { Type } from './schema.ts'

const HealthResponse = named(
  'HealthResponse',
  Type.Object({ status: Type.Literal('ok') }, { examples: [{ status: 'ok' }] }),
)

const meanings = {
  'read-only': 'the database takes no writes',
  full: 'the disk of the database is full',
  'not-sealing': 'an event has waited for its seal for more than ten seconds',
  'clock-behind': 'the clock is more than a minute behind the latest event',
}
export type Warning = keyof typeof meanings
export const warningNames = Object.keys(meanings) as Warning[]
/** All warnings with their meanings, as one sentence. */
export const warningsInWords = `${Object.entries(meanings)
  .map(([name, meaning]) => `\`${name}\`: ${meaning}`)
  .join('; ')}.`

const ReadinessResponse = named(
  'ReadinessResponse',
  Type.Object(
    {
      status: Type.Literal('ok'),
      warnings: Type.Optional(
        Type.Array(Type.Unsafe<Warning>({ type: 'string', examples: ['not-sealing'] }), {
          description: `Absent without any. ${warningsInWords} Later versions may have more.`,
        }),
      ),
    },
    { examples: [{ status: 'ok' }] },
  ),
)

export interface Readiness {
  /** `draining` from the signal to end, `closing` from when the listener closes. */
  phase: 'serving' | 'draining' | 'closing'
}

interface HealthParts {
  db: AppDatabase
  readiness: Readiness
  warnings(): Promise<Warning[]>
  /** Throws `log-contradicted` while the log is stopped. */
  refuseContradicted(): Promise<void>
}

/** Probes. No limit counts them, because orchestrators call them very often. */
export const healthRoutes: Routes<HealthParts> = {
  getHealth: route('GET /health', {
    summary: 'Liveness probe',
    description: 'Answers while the process serves. It checks no dependency.',
    access: 'public',
    limit: 'exempt',
    response: { 200: HealthResponse },
    handler: async () => ({ status: 'ok' as const }),
  }),
  getReadiness: route('GET /health/ready', {
    summary: 'Readiness probe',
    description:
      '503 while the instance drains or cannot reach its database, and while a quorum of witnesses contradicts the log. Then requests are served all the same, but nothing is sealed or signed.',
    access: 'public',
    limit: 'exempt',
    problems: ['shutting-down', 'database-unavailable', 'log-contradicted'],
    response: { 200: ReadinessResponse },
    handler: async ({ db, readiness, warnings, refuseContradicted }) => {
      if (readiness.phase !== 'serving') throw new Problem('shutting-down', { headers: retryAfter(5_000) })
      await db.ping()
      await refuseContradicted()
      const found = await warnings()
      return { status: 'ok' as const, ...(found.length > 0 && { warnings: found }) }
    },
  }),
}

/**
 * A draining instance answers as always, because its balancer may not know yet. Once it has stopped
 * listening, it refuses what still comes on open connections. From the start of the drain every answer ends
 * its connection: an idle one would delay the shutdown.
 */
export function registerDraining(app: App, readiness: Readiness): void {
  app.addHook('onSend', async (_request, reply) => {
    if (readiness.phase !== 'serving') reply.header('connection', 'close')
  })
  app.addHook('onRequest', (request, _reply, done) => {
    const isRefused = readiness.phase === 'closing' && request.routeOptions.config.limit !== 'exempt'
    done(isRefused ? new Problem('shutting-down', { headers: retryAfter(1_000) }) : undefined)
  })
}
