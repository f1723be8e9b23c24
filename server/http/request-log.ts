import type { Log } from '../log.ts'
import { pathOf, repeatedPathLimit } from './errors.ts'
import type { App } from './route.ts'

/**
 * One line for every answered request, with problem and address if it was refused. Query strings, headers and bodies
 * are never logged: they may hold secrets. The line does not go through the request's own logger, which would cost four
 * times as much (21 µs against 5 on a busy machine).
 */
export function registerRequestLog(app: App, log: Log): void {
  if (!log.isLevelEnabled('info')) return
  app.addHook('onResponse', (request, reply, done) => {
    const { id: requestId, trace, method, routeOptions, principal, problem } = request
    log.writeLine('info', {
      requestId,
      ...trace,
      method,
      path: pathOf(request.raw.url).slice(0, repeatedPathLimit),
      route: routeOptions.schema?.operationId,
      status: reply.statusCode,
      milliseconds: Math.round(reply.elapsedTime * 10) / 10,
      caller: principal?.userName,
      via: principal?.via,
      ...(problem === null ? {} : { problem, address: request.clientAddress }),
      msg: 'request',
    })
    done()
  })
}
