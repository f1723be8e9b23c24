import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { Problem } from './problems.ts'
import type { App } from './route.ts'
import { webAppPolicy } from './security-headers.ts'
import { cacheForAll } from './shared-caches.ts'

const built = fileURLToPath(new URL('../../web/dist', import.meta.url))
/** A page that says what to do before anybody has run `npm run build`. */
const unbuilt = fileURLToPath(new URL('../../web/unbuilt', import.meta.url))
const compressed = /\.(?:br|gz)$/
/** Every asset has a hash of its content in its name, and so never changes. */
const assetName = /^\/assets\/[\w.-]+-[\w-]{8}\.\w+$/

export const isWebAppBuilt = () => existsSync(`${built}/index.html`)

type SendPage = (request: FastifyRequest, reply: FastifyReply, path: string) => FastifyReply

/** Returns what answers a GET or HEAD outside the API: a file under /assets/, or else the one page. */
export async function registerWebApp(app: App, { currency }: Config): Promise<SendPage> {
  const root = isWebAppBuilt() ? built : unbuilt
  await app.register(fastifyStatic, {
    root,
    serve: false,
    cacheControl: false,
    index: false,
    acceptRanges: false,
    // Each file has its brotli and gzip forms beside it (web/bundle.ts).
    preCompressed: true,
  })
  return (request, reply, path) => sendWebApp(request, reply, path, { root, currency })
}

/** index.html, never cached, for every address of the web app; files under /assets/ as they are. */
function sendWebApp(
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
  { root, currency }: { root: string; currency: string | undefined },
): FastifyReply {
  // Behind the sign-in there is nothing to find.
  if (path === '/robots.txt') return reply.type('text/plain').send('User-agent: *\nDisallow: /\n')
  const isAsset = path === '/assets' || path.startsWith('/assets/')
  if (isAsset && !isFile(path, root)) throw new Problem('route-not-found')
  // Files are small and sent whole. With these headers the file server would fail.
  for (const name of ['range', 'if-match', 'if-unmodified-since']) delete request.raw.headers[name]
  reply.header('content-security-policy', webAppPolicy)
  if (isAsset) {
    cacheForAll(reply, 'max-age=31536000, immutable')
    return reply.sendFile(path.slice(1))
  }
  reply.header('cache-control', 'no-cache')
  if (currency === undefined) return reply.sendFile('index.html')
  return reply.type('text/html; charset=utf-8').send(pageWith(currency, root))
}

/** The one page, with what web/src/ui/format.ts reads in it. */
function pageWith(currency: string, root: string): string {
  const page = readFileSync(join(root, 'index.html'), 'utf8')
  return page.replace('<head>', `<head>\n    <meta name="currency" content="${currency}" />`)
}

/** Asks the disk each time: a new build may have replaced the one that was there at the start. */
function isFile(path: string, root: string): boolean {
  return assetName.test(path) && !compressed.test(path) && existsSync(join(root, path))
}
