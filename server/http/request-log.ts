import type { Log } from '../log.ts'
import { pathWithoutSecrets } from './errors.ts'
import type { RefusalLog } from './refusal-log.ts'
import type { App } from './route.ts'

/** Limited, because every caller can write to the log. */
const pathLimit = 256

/**
 * Writes one line for every answered request, with problem and address if it was refused. Query strings,
 * headers and bodies may hold secrets and are never logged. Successful probes are logged at `debug`: a
 * balancer sends more of them than of anything else. The request's own logger would cost four times as much
 * (21 µs instead of 5 under load).
 */
export function registerRequestLog(app: App, log: Log, refusals: RefusalLog): void {
  app.addHook('onClose', async () => refusals.close())
  if (!log.isLevelEnabled('info')) return
  app.addHook('onResponse', (request, reply, done) => {
    const { id: requestId, trace, method, routeOptions, principal, problem } = request
    const level = problem === null && routeOptions.config.limit === 'exempt' ? 'debug' : 'info'
    const isSummedUp = reply.statusCode === 429 && !refusals.hasLine(request.clientAddress)
    if (isSummedUp || !log.isLevelEnabled(level)) return done()
    const members = {
      requestId,
      ...trace,
      method,
      path: pathWithoutSecrets(request.raw.url).slice(0, pathLimit),
      route: routeOptions.schema?.operationId,
      status: reply.statusCode,
      milliseconds: Math.round(reply.elapsedTime * 10) / 10,
      caller: principal?.userName,
      via: principal?.via,
      ...(problem === null ? {} : { problem, address: request.clientAddress }),
      msg: 'request',
    }
    log.writeLine(level, members, { ifRoom: problem === null })
    done()
  })
}
