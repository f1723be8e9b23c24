/** Another single-page app in the place of the one that is built in (`WEB_DIR`). */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../problems/problems.ts'
import { webAppPolicy } from './security-headers.ts'
import { cacheForAll } from './shared-caches.ts'
import { type SendPage, withoutParts } from './spa.ts'

/**
 * The ends of names as Vite, Angular and webpack make them: eight characters of a hash, or more in
 * hexadecimal. A name without both letters and digits may be a person's, and its file may change.
 */
const hashedName = /[-.](?:(?=[\w-]*\d)(?=[\w-]*[A-Z])[\w-]{8}|(?=[\da-f]*\d)(?=\d*[a-f])[\da-f]{8,64})\.\w+$/

/**
 * Every address is a file of the folder, or else its index.html. A missing file under /assets/ is a problem,
 * because a page in the place of a script only says that it cannot be read.
 */
export function sendWebDir(folder: string, givenPolicy = webAppPolicy): SendPage {
  const root = realpathSync(folder)
  // Read once, so that the page and its policy always fit each other.
  const index = readFileSync(join(root, 'index.html'), 'utf8')
  const policy = allowInline(givenPolicy, index)
  return (request: FastifyRequest, reply: FastifyReply, path: string) => {
    const found = /\/\./.test(path) ? undefined : fileIn(root, path)
    const file = found !== undefined && isWhole(root, `/${found}`) ? found : undefined
    if (file === undefined && path.startsWith('/assets/')) throw new Problem('route-not-found')
    withoutParts(request)
    reply.header('content-security-policy', policy)
    if (file !== undefined && hashedName.test(path)) cacheForAll(reply, 'max-age=31536000, immutable')
    else reply.header('cache-control', 'no-cache')
    if (file === undefined || path === '/index.html') {
      return reply.type('text/html; charset=utf-8').send(index)
    }
    return reply.sendFile(file, root)
  }
}

/**
 * The real path within the folder. No link leads outside, or to a name that begins with a dot. Two dots begin
 * the folders of Kubernetes: the files that a ConfigMap shows are links into them.
 */
function fileIn(root: string, path: string): string | undefined {
  if (/[\\\0]/.test(path) || path.endsWith('/')) return undefined
  try {
    const file = relative(root, realpathSync(join(root, path))).replaceAll(sep, '/')
    return !/(?:^|\/)\.(?:[^.]|\.(?:\/|$))/.test(file) && statSync(join(root, file)).isFile()
      ? file
      : undefined
  } catch {
    return undefined
  }
}

/** Whether its compressed forms, which may be sent in its place, are within the folder too. */
const isWhole = (root: string, path: string) =>
  ['.br', '.gz'].every((end) => !existsSync(join(root, path + end)) || fileIn(root, path + end) !== undefined)

const inline = {
  'script-src': /<script(?![^>]*\ssrc\s*=)[^>]*>([\s\S]*?)<\/script\s*>/gi,
  'style-src': /<style[^>]*>([\s\S]*?)<\/style\s*>/gi,
}

/** Where a policy allows everything inline, a hash would take that back (CSP Level 3 §6.7.3.2). */
function allowInline(policy: string, page: string): string {
  return policy
    .split(';')
    .map((directive) => {
      const [name = ''] = directive.trim().split(/\s+/)
      const pattern = Object.hasOwn(inline, name) ? inline[name as keyof typeof inline] : undefined
      if (pattern === undefined || directive.includes("'unsafe-inline'")) return directive
      const hashes = new Set([...page.matchAll(pattern)].map(([, text = '']) => hashOf(text)))
      return `${directive.replace(/ 'none'$/, '')}${[...hashes].map((hash) => ` '${hash}'`).join('')}`
    })
    .join(';')
}

/** Browsers hash the text with line ends as the parser of HTML normalizes them. */
const hashOf = (text: string) =>
  `sha256-${createHash('sha256').update(text.replaceAll(/\r\n?/g, '\n')).digest('base64')}`
