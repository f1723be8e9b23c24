import { pathOf } from './errors.ts'
import type { App } from './route.ts'

/**
 * One line for every answered request. The query string, headers and bodies are never logged: they may hold what
 * does not belong there.
 */
export function registerRequestLog(app: App): void {
  app.addHook('onResponse', (request, reply, done) => {
    request.log.info(
      {
        method: request.method,
        path: pathOf(request.raw.url),
        route: request.routeOptions.schema?.operationId,
        status: reply.statusCode,
        milliseconds: Math.round(reply.elapsedTime * 10) / 10,
        caller: request.principal?.userName,
        via: request.principal?.via,
      },
      'request',
    )
    done()
  })
}
