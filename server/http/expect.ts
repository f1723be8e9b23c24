import type { IncomingMessage } from 'node:http'
import type { App } from './route.ts'

/**
 * Asks for a body that the client holds back (`Expect: 100-continue`) once the guard has let the request in.
 * A refusal before that closes the connection: nobody knows whether the body will still come (RFC 9110
 * §10.1.1).
 */
export function registerHeldBackBodies(app: App): void {
  /** Whether the connection is to be kept after the answer. */
  const heldBack = new WeakMap<IncomingMessage, boolean>()
  app.server.on('checkContinue', (request, response) => {
    heldBack.set(request, response.shouldKeepAlive)
    response.shouldKeepAlive = false
    app.server.emit('request', request, response)
  })
  app.addHook('preParsing', (request, { raw: response }, payload, done) => {
    const isKept = heldBack.get(request.raw)
    if (isKept !== undefined) {
      response.shouldKeepAlive = isKept
      response.writeContinue()
    }
    done(null, payload)
  })
}
