import type { Agent, IncomingMessage } from 'node:http'
import { lookupBy, type Resolve } from './names.ts'

export interface Exchange {
  /** POST unless given. */
  method?: string
  body?: string
  headers?: Record<string, string>
  resolve: Resolve
  /** Keeps connections. Without one, each exchange has its own. */
  agent?: Agent
  /** Ends all of it: name, connection, request and answer. */
  signal: AbortSignal
}

/**
 * Sends a request to somebody else's program. Resolves once the status has arrived: the caller reads the
 * rest, and destroys it. Follows no redirect. Throws an Error if there is no answer.
 */
export async function exchange(
  url: URL,
  { method = 'POST', body, headers, resolve: names, agent, signal }: Exchange,
): Promise<IncomingMessage> {
  // Not at the start: as modules they load fetch too.
  const { request } = await (url.protocol === 'http:' ? import('node:http') : import('node:https'))
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
      sent.off('error', reject).on('error', () => undefined)
      resolve(response)
    })
    sent.once('error', reject)
    sent.end(body)
  })
}
