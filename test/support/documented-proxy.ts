import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from './process.ts'

/** A configuration from docs/proxies. A test runs it without TLS, on ports of its choice. */
interface Documented {
  file: string
  program: string
  args: (file: string) => string[]
  /** Texts of the file, and their replacements in a test. */
  replaced: (port: number, folder: string) => Record<string, string>
  /** Whether the proxy probes the instances for readiness. */
  probes: boolean
}

export const documentedProxies: Record<string, Documented> = {
  nginx: {
    file: 'nginx.conf',
    program: 'nginx',
    args: (file) => ['-e', 'stderr', '-g', 'daemon off;', '-c', file],
    replaced: (port, folder) => ({
      'http {': `pid ${folder}/pid;\nhttp {\n  access_log off;`,
      'listen 443 ssl http2;': `listen 127.0.0.1:${port};`,
      'ssl_certificate /etc/countersign/tls.pem;': '',
      'ssl_certificate_key /etc/countersign/tls.key;': '',
    }),
    probes: false,
  },
  HAProxy: {
    file: 'haproxy.cfg',
    program: 'haproxy',
    args: (file) => ['-db', '-f', file],
    replaced: (port) => ({
      'bind :443 ssl crt /etc/countersign/tls-and-key.pem alpn h2,http/1.1': `bind 127.0.0.1:${port}`,
    }),
    probes: true,
  },
  Caddy: {
    file: 'Caddyfile',
    program: 'caddy',
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
    replaced: (port) => ({
      'orders.example.com {': `{\n\tadmin off\n}\nhttp://127.0.0.1:${port} {`,
    }),
    probes: true,
  },
}

export function withoutProgram({ program }: Documented): string | false {
  return spawnSync(program, ['-v']).error === undefined ? false : `needs ${program}`
}

export interface RunningProxy {
  baseUrl: string
  stop(): Promise<void>
}

/** Starts the proxy in front of two instances. Resolves once it answers. */
export async function startDocumentedProxy(
  { file, program, args, replaced }: Documented,
  [one, two]: readonly [number, number],
): Promise<RunningProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-proxy-'))
  const port = await freePort()
  let text = readFileSync(new URL(`../../docs/proxies/${file}`, import.meta.url), 'utf8')
  const ports = { '127.0.0.1:8081': `127.0.0.1:${one}`, '127.0.0.1:8082': `127.0.0.1:${two}` }
  for (const [from, to] of Object.entries({ ...replaced(port, folder), ...ports })) {
    if (!text.includes(from)) throw new Error(`${file} does not have: ${from}`)
    text = text.replaceAll(from, to)
  }
  writeFileSync(join(folder, file), text)
  // Caddy keeps its state in the home folder.
  const child = spawn(program, args(join(folder, file)), { env: { ...process.env, HOME: folder } })
  let output = ''
  const note = (part: Buffer) => {
    output += part
  }
  child.stdout.on('data', note)
  child.stderr.on('data', note)
  process.once('exit', () => child.kill())
  const baseUrl = `http://127.0.0.1:${port}`
  while (!(await fetch(`${baseUrl}/health`).catch(() => undefined))?.ok) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}:\n${output}`)
    await wait(20)
  }
  return {
    baseUrl,
    async stop() {
      if (child.exitCode === null) {
        child.kill()
        await once(child, 'exit')
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
