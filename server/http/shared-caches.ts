import type { FastifyReply } from 'fastify'

const ofOneRequest = ['x-request-id', 'traceparent', 'ratelimit', 'ratelimit-policy']

/** Lets any cache keep the answer for others, and takes from it what is said of the one request that fetched it. */
export function cacheForAll(reply: FastifyReply, directives: string): void {
  reply.header('cache-control', `public, ${directives}`)
  for (const name of ofOneRequest) reply.removeHeader(name)
}
