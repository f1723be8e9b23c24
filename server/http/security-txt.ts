import { type Clock, formatInstant } from '../clock.ts'
import type { App } from './route.ts'
import { cacheForAll } from './shared-caches.ts'

const dayMilliseconds = 86_400_000
/** RFC 9116 §2.5.5 recommends less than a year. */
const validDays = 90

/** Contacts for reports of vulnerabilities (RFC 9116). Without the setting the page does not exist. */
export function registerSecurityTxt(
  app: App,
  contacts: string[],
  publicUrl: () => string,
  clock: Clock,
): void {
  if (contacts.length === 0) return
  app.route({
    method: 'GET',
    url: '/.well-known/security.txt',
    config: { access: 'public', undocumented: true },
    handler: async (_request, reply) => {
      cacheForAll(reply, 'max-age=86400')
      reply.header('content-type', 'text/plain; charset=utf-8')
      const today = clock() - (clock() % dayMilliseconds)
      return [
        ...contacts.map((contact) => `Contact: ${contact}`),
        `Expires: ${formatInstant(today + validDays * dayMilliseconds)}`,
        `Canonical: ${publicUrl()}/.well-known/security.txt`,
        '',
      ].join('\n')
    },
  })
}
