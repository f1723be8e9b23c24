import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fastify, type RouteOptions } from 'fastify'
import { describeApi } from './openapi.ts'
import type { App } from './route.ts'

/** Scalar makes its styles at run time; nothing may come from, or go to, another origin. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
  "font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'"

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Countersign API</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <div id="app"></div>
    <script src="/scalar/v1/scalar.js"></script>
    <script src="/scalar/v1/start.js"></script>
  </body>
</html>
`

const start = `Scalar.createApiReference('#app', {
  url: '/openapi/v1.json',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  persistAuth: false,
})
`

/** The package has the script as a file, without what it comes from. */
const packed = new URL('scalar.js', import.meta.url)

/** In development only: the description at /openapi/v1.json and a browser for it at /scalar/v1. */
export function registerApiBrowser(app: App, routes: readonly RouteOptions[], publicUrl: () => string): void {
  let script: Promise<string> | undefined
  const serve = (url: string, type: string, body: () => unknown) =>
    app.route({
      method: 'GET',
      url,
      config: { access: 'public', undocumented: true },
      handler: async (_request, reply) => {
        reply.header('content-security-policy', policy).header('content-type', type)
        return body()
      },
    })
  serve('/openapi/v1.json', 'application/json; charset=utf-8', () => describeApi(routes, publicUrl()))
  serve('/scalar/v1', 'text/html; charset=utf-8', () => page)
  serve('/scalar/v1/start.js', 'text/javascript; charset=utf-8', () => start)
  serve('/scalar/v1/scalar.js', 'text/javascript; charset=utf-8', () => {
    script ??= existsSync(packed) ? readFile(packed, 'utf8') : readScalarScript()
    return script
  })
}

/**
 * The script of the API browser. Its package offers it only by a route of its plugin. The plugin's page
 * redirects, which the contract forbids, and has an inline script; so the plugin runs on a separate instance.
 */
export async function readScalarScript(): Promise<string> {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const host = fastify()
  await host.register(scalar, { routePrefix: '/scalar', configuration: { url: '/openapi/v1.json' } })
  const answer = await host.inject('/scalar/js/scalar.js')
  await host.close()
  if (answer.statusCode !== 200) throw new Error('the script of the API browser cannot be read')
  return answer.body
}
