import type { Agent, IncomingMessage } from 'node:http'
import { lookupBy, type Resolve } from './names.ts'

export interface Exchange {
  /** POST unless given. */
  method?: string
  body?: string
  headers?: Record<string, string>
  resolve: Resolve
  /** Keeps connections. Without one, each exchange has its own. */
  agent?: Agent | undefined
  /** Ends all of it: name, connection, request and answer. */
  signal: AbortSignal
}

/**
 * Sends a request to somebody else's program. Resolves once the status has arrived: the caller reads the
 * rest, and destroys it. Follows no redirect. Throws an Error if there is no answer. If a kept connection
 * ends just then, a GET is sent again; anything else may have been done already (RFC 9110 §9.2.2).
 */
export async function exchange(url: URL, asked: Exchange): Promise<IncomingMessage> {
  const { method = 'POST', body, headers, resolve: names, agent, signal } = asked
  // As modules they load fetch too.
  const { request } = process.getBuiltinModule(url.protocol === 'http:' ? 'node:http' : 'node:https')
  const options = {
    method,
    headers: { 'user-agent': 'Countersign', ...headers },
    lookup: lookupBy(names),
    signal,
    agent: agent ?? false,
  } as const
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (response) => {
      // The status has arrived. The reader of the rest sees its errors.
      sent.removeAllListeners('error').on('error', () => undefined)
      resolve(response)
    })
    sent.once('error', (error) => {
      const isAgain = sent.reusedSocket && method === 'GET'
      isAgain ? resolve(exchange(url, { ...asked, agent: undefined })) : reject(error)
    })
    // An answer that changes the protocol (101) is neither a response nor an error.
    sent.once('close', () => reject(new Error('it ended the connection without an answer')))
    sent.end(body)
  })
}
