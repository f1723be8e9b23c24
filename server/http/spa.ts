import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../problems/problems.ts'
import type { App } from './route.ts'
import { webAppPolicy } from './security-headers.ts'
import { cacheForAll } from './shared-caches.ts'

const built = fileURLToPath(new URL('../../web/dist', import.meta.url))
/** Served before the first `npm run build`: a page that says to run it. */
const unbuilt = fileURLToPath(new URL('../../web/unbuilt', import.meta.url))
const compressed = /\.(?:br|gz)$/
/** The name of an asset has a hash of its content, so an asset never changes. */
const assetName = /^\/assets\/[\w.-]+-[\w-]{8}\.\w+$/

/** How to check the log, the list of problems, and one of them (web/pages.ts). */
const documentPage = /^\/(?:auditing|problems(?:\/[\w-]+)?)(?=\/?$)/

export const isWebAppBuilt = () => existsSync(`${built}/index.html`)

/** The content of each `meta` element that the page gets, by its name; without the undefined ones. */
export type PageSettings = () => Promise<Record<string, string | undefined>>

/** The policy stands in the page itself, because the page works from a disk too. */
const policyInPage = /<meta http-equiv="Content-Security-Policy" content="([^"]*)"/

export type SendPage = (
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
) => FastifyReply | Promise<FastifyReply>

/** Returns what answers a GET or HEAD outside the API: with a file under /assets/, or with the page. */
export async function registerWebApp(app: App, settings: PageSettings): Promise<SendPage> {
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
  return (request, reply, path) => sendWebApp(request, reply, path, { root, settings })
}

/** The page that checks receipts: for anyone, and a file that also works from a disk (ADR 53). */
export function registerVerifyPage(app: App): void {
  app.route({
    method: 'GET',
    url: '/verify',
    config: { access: 'public', undocumented: true },
    handler: async (request, reply) => {
      if (!isWebAppBuilt()) throw new Problem('route-not-found')
      const [, policy] = policyInPage.exec(readFileSync(`${built}/verify.html`, 'utf8')) ?? []
      withoutParts(request)
      reply.header('content-security-policy', `${policy}; frame-ancestors 'none'`)
      reply.header('cache-control', 'no-cache')
      return reply.sendFile('verify.html')
    },
  })
}

/**
 * Every address of the web app gets index.html, which is never cached. /assets/ holds files, and pages of
 * documents are files too.
 */
async function sendWebApp(
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
  { root, settings }: { root: string; settings: PageSettings },
): Promise<FastifyReply> {
  // There is nothing to index: every page needs a sign-in.
  if (path === '/robots.txt') return reply.type('text/plain').send('User-agent: *\nDisallow: /\n')
  const isAsset = path === '/assets' || path.startsWith('/assets/')
  if (isAsset && !isFile(path, root)) throw new Problem('route-not-found')
  withoutParts(request)
  reply.header('content-security-policy', webAppPolicy)
  if (isAsset) {
    cacheForAll(reply, 'max-age=31536000, immutable')
    return reply.sendFile(path.slice(1))
  }
  reply.header('cache-control', 'no-cache')
  const [page] = documentPage.exec(path) ?? []
  if (page !== undefined && existsSync(join(root, `${page}.html`))) return reply.sendFile(`${page}.html`)
  const elements = Object.entries(await settings()).flatMap(([name, content]) =>
    content === undefined
      ? []
      : `\n    <meta name="${name}" content="${content.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}" />`,
  )
  if (elements.length === 0) return reply.sendFile('index.html')
  const index = readFileSync(join(root, 'index.html'), 'utf8')
  return reply.type('text/html; charset=utf-8').send(index.replace('<head>', `<head>${elements.join('')}`))
}

/** Files are small and sent whole. The file server would fail on these headers. */
export function withoutParts(request: FastifyRequest): void {
  for (const name of ['range', 'if-match', 'if-unmodified-since']) delete request.raw.headers[name]
}

/** Asks the disk each time, because a new build may have replaced the files. */
function isFile(path: string, root: string): boolean {
  return assetName.test(path) && !compressed.test(path) && existsSync(join(root, path))
}
