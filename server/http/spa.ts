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
/** Served before the first `npm run build`: a page that says to run it. */
const unbuilt = fileURLToPath(new URL('../../web/unbuilt', import.meta.url))
const compressed = /\.(?:br|gz)$/
/** The name of an asset has a hash of its content, so an asset never changes. */
const assetName = /^\/assets\/[\w.-]+-[\w-]{8}\.\w+$/

export const isWebAppBuilt = () => existsSync(`${built}/index.html`)

type SendPage = (request: FastifyRequest, reply: FastifyReply, path: string) => FastifyReply

/** Returns what answers a GET or HEAD outside the API: with a file under /assets/, or with the page. */
export async function registerWebApp(app: App, { currency }: Config): Promise<SendPage> {
  const root = isWebAppBuilt() ? built : unbuilt
  await app.register(fastifyStatic, {
    root,
    serve: false,
    cacheControl: false,
    index: false,
    acceptRanges: false,
    // Each file has its brotli and gzip forms next to it (web/bundle.ts).
    preCompressed: true,
  })
  return (request, reply, path) => sendWebApp(request, reply, path, { root, currency })
}

/** Every address of the web app gets index.html, which is never cached; /assets/ holds files. */
function sendWebApp(
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
  { root, currency }: { root: string; currency: string | undefined },
): FastifyReply {
  // There is nothing to index: every page needs a sign-in.
  if (path === '/robots.txt') return reply.type('text/plain').send('User-agent: *\nDisallow: /\n')
  const isAsset = path === '/assets' || path.startsWith('/assets/')
  if (isAsset && !isFile(path, root)) throw new Problem('route-not-found')
  // Files are small and sent whole. The file server would fail on these headers.
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

/** The page with the currency, which web/src/ui/format.ts reads. */
function pageWith(currency: string, root: string): string {
  const page = readFileSync(join(root, 'index.html'), 'utf8')
  return page.replace('<head>', `<head>\n    <meta name="currency" content="${currency}" />`)
}

/** Asks the disk each time, because a new build may have replaced the files. */
function isFile(path: string, root: string): boolean {
  return assetName.test(path) && !compressed.test(path) && existsSync(join(root, path))
}
