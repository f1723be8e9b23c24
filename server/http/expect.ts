import type { IncomingMessage, ServerResponse } from 'node:http'
import type { App } from './route.ts'

/** Requests whose body is held back, and whether the connection is to be kept after the answer. */
const heldBack = new WeakMap<IncomingMessage, boolean>()

/**
 * Asks for a body that the client holds back (`Expect: 100-continue`) once the guard has let the request in.
 * A refusal before that closes the connection: nobody knows whether the body will still come (RFC 9110
 * §10.1.1).
 */
export function registerHeldBackBodies(app: App): void {
  app.server.on('checkContinue', (request, response) => {
    heldBack.set(request, response.shouldKeepAlive)
    response.shouldKeepAlive = false
    app.server.emit('request', request, response)
  })
  app.addHook('preParsing', ({ raw, routeOptions }, { raw: response }, payload, done) => {
    if (!routeOptions.config.takesBytes) askForBody(raw, response)
    done(null, payload)
  })
}

export function askForBody(request: IncomingMessage, response: ServerResponse): void {
  const isKept = heldBack.get(request)
  if (isKept === undefined) return
  response.shouldKeepAlive = isKept
  response.writeContinue()
}
