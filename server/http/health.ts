import type { AppDatabase } from '../db/port.ts'
import { named } from './fields.ts'
import { Problem, retryAfter } from './problems.ts'
import type { App } from './route.ts'
import { Type } from './schema.ts'

const HealthResponse = named(
  'HealthResponse',
  Type.Object({ status: Type.Literal('ok') }, { examples: [{ status: 'ok' }] }),
)

export interface Readiness {
  /** `draining` from the signal to end, `closing` from when the listener closes. */
  phase: 'serving' | 'draining' | 'closing'
}

/** Probes. No limit counts them, because orchestrators call them very often. */
export function registerHealth(app: App, db: AppDatabase, readiness: Readiness): void {
  app.route({
    method: 'GET',
    url: '/health',
    config: { access: 'public', limit: 'exempt' },
    schema: {
      operationId: 'getHealth',
      summary: 'Liveness probe',
      description: 'Answers while the process serves. It checks no dependency.',
      tags: ['Operations'],
      response: { 200: HealthResponse },
    },
    handler: async () => ({ status: 'ok' as const }),
  })
  app.route({
    method: 'GET',
    url: '/health/ready',
    config: { access: 'public', limit: 'exempt', problems: ['shutting-down', 'database-unavailable'] },
    schema: {
      operationId: 'getReadiness',
      summary: 'Readiness probe',
      description: '503 while the instance drains or cannot reach its database.',
      tags: ['Operations'],
      response: { 200: HealthResponse },
    },
    handler: async () => {
      if (readiness.phase !== 'serving') throw new Problem('shutting-down', { headers: retryAfter(5_000) })
      await db.ping()
      return { status: 'ok' as const }
    },
  })
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
