import type { Config } from '../config.ts'
import type { App } from './route.ts'

const apiPolicy = "default-src 'none'; frame-ancestors 'none'"
export const webAppPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; frame-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

const oneYearSeconds = 31_536_000

/** Headers of every answer (section 10 of the contract). A page replaces the policy with its own. */
export function securityHeaders({ development }: Config): Record<string, string> {
  return {
    'content-security-policy': apiPolicy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
    ...(development ? {} : { 'strict-transport-security': `max-age=${oneYearSeconds}; includeSubDomains` }),
  }
}

export function registerSecurityHeaders(app: App, config: Config): void {
  const headers = securityHeaders(config)
  const vary = ['Cookie', 'Authorization', ...(config.corsOrigins.length > 0 ? ['Origin'] : [])].join(', ')
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers)
    // An escaped spelling leads to the same route.
    const isApi = request.raw.url?.startsWith('/v1/') || request.routeOptions.url?.startsWith('/v1/')
    const { exports, textForm } = request.routeOptions.config ?? {}
    const hasForms = exports !== undefined || textForm !== undefined
    if (isApi) reply.header('vary', hasForms ? `${vary}, Accept` : vary)
    done()
  })
}
