import type { FastifyReply, FastifyRequest } from 'fastify'
import { sha256 } from '../ids.ts'
import { etagHeader, matchesNone } from './preconditions.ts'

const ofOneRequest = ['x-request-id', 'traceparent', 'ratelimit', 'ratelimit-policy']

/** Lets any cache keep the answer for others, and takes from it what is said of the one request that fetched it. */
export function cacheForAll(reply: FastifyReply, directives: string): void {
  reply.header('cache-control', `public, ${directives}`)
  for (const name of ofOneRequest) reply.removeHeader(name)
}

/** What routes that answer by `answerForAll` declare. */
export const forAll = {
  isForAll: true,
  responseHeaders: { 200: [etagHeader] },
}

/**
 * A document for the validators of tokens, any origin's scripts included; it is asked for again after an hour. Keys
 * last as long as the process in development, so there after half a minute.
 */
export function answerForAll<T extends object>(
  request: FastifyRequest,
  reply: FastifyReply,
  document: T,
  development: boolean,
): T | FastifyReply {
  const etag = `"${sha256(JSON.stringify(document))}"`
  cacheForAll(reply, `max-age=${development ? 30 : 3600}`)
  reply
    .header('etag', etag)
    .header('access-control-allow-origin', '*')
    .header('cross-origin-resource-policy', 'cross-origin')
  return matchesNone(request.headers['if-none-match'], etag) ? document : reply.code(304).send()
}
