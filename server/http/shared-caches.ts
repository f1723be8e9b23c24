import type { FastifyReply, FastifyRequest } from 'fastify'
import { sha256 } from '../ids.ts'
import { etagHeader, matchesNone } from './preconditions.ts'

const ofOneRequest = ['x-request-id', 'traceparent', 'ratelimit', 'ratelimit-policy']

/**
 * Lets any cache keep the answer for others, without the headers that concern the one request that fetched
 * it.
 */
export function cacheForAll(reply: FastifyReply, directives: string): void {
  reply.header('cache-control', `public, ${directives}`)
  for (const name of ofOneRequest) reply.removeHeader(name)
}

/** Declared by routes that use `answerForAll`. */
export const forAll = {
  isForAll: true,
  responseHeaders: { 200: [etagHeader] },
}

/**
 * A document for validators of tokens, including scripts of any origin. It is fresh for an hour. In
 * development, where keys last as long as the process, it is fresh for half a minute.
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
