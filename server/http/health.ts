import type { AppDatabase } from '../operations.ts'
import { named } from './fields.ts'
import { Problem, retryAfter } from './problems.ts'
import type { App } from './route.ts'
import { Type } from './schema.ts'

const HealthResponse = named(
  'HealthResponse',
  Type.Object({ status: Type.Literal('ok') }, { examples: [{ status: 'ok' }] }),
)

export interface Readiness {
  /** Set when the shutdown begins: no new work. */
  draining: boolean
}

/** Probes; exempt from every limit, because orchestrators call them very often. */
export function registerHealth(app: App, db: AppDatabase, readiness: Readiness): void {
  app.route({
    method: 'GET',
    url: '/health',
    config: { access: 'public', limit: 'exempt' },
    schema: {
      operationId: 'getHealth',
      summary: 'Liveness probe',
      description: 'Answers as long as the process serves; touches no dependency.',
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
      if (readiness.draining) throw new Problem('shutting-down', { headers: retryAfter(5_000) })
      await db.ping()
      return { status: 'ok' as const }
    },
  })
}

/**
 * While the instance drains, new requests are sent elsewhere; the probes say so themselves. Every answer ends its
 * connection, also of a request that was under way: an idle connection would delay the shutdown.
 */
export function registerDraining(app: App, readiness: Readiness): void {
  app.addHook('onSend', async (_request, reply) => {
    if (readiness.draining) reply.header('connection', 'close')
  })
  app.addHook('onRequest', (request, _reply, done) => {
    const isRefused = readiness.draining && request.routeOptions.config.limit !== 'exempt'
    done(isRefused ? new Problem('shutting-down', { headers: retryAfter(1_000) }) : undefined)
  })
}
