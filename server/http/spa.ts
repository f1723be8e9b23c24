import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from './problems.ts'
import type { App } from './route.ts'
import { webAppPolicy } from './security-headers.ts'

/** Until the web app is built, a page that says so stands in for it. */
const root = fileURLToPath(new URL('../../web/standin', import.meta.url))
const assets = new Set(readdirSync(`${root}/assets`).map((name) => `/assets/${name}`))

export async function registerWebApp(app: App): Promise<void> {
  await app.register(fastifyStatic, {
    root,
    serve: false,
    cacheControl: false,
    index: false,
    acceptRanges: false,
  })
}

/** index.html for every address of the web app, asked for anew every time; files under /assets/ as they are. */
export function sendWebApp(request: FastifyRequest, reply: FastifyReply, path: string): FastifyReply {
  const isAsset = path === '/assets' || path.startsWith('/assets/')
  if (isAsset && !assets.has(path)) throw new Problem('route-not-found')
  // Files are small and sent whole; these would only make the file server fail.
  for (const name of ['range', 'if-match', 'if-unmodified-since']) delete request.raw.headers[name]
  reply.header('content-security-policy', webAppPolicy).header('cache-control', cacheControl(path))
  return reply.sendFile(isAsset ? path.slice(1) : 'index.html')
}

/** A file whose name holds a hash of its content never changes. */
function cacheControl(path: string): string {
  return /-[A-Za-z0-9_-]{8,}\.\w+$/.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache'
}
