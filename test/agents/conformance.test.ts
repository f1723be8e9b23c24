// engine: SQLite, waits
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { newAgent } from '../support/agents.ts'
import { startService } from '../support/service.ts'

const suite = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'))

/**
 * Scenarios of the official suite that any server can pass, since most others need test tools. Listed are the
 * checks within them that need test tools or prompts too, and so fail.
 */
const scenarios: Record<string, Record<string, string[]>> = {
  '2025-11-25': {
    'server-initialize': [],
    ping: [],
    'tools-list': [],
    'resources-list': [],
    'dns-rebinding-protection': [],
  },
  '2026-07-28': {
    'server-stateless': [
      'sep-2575-http-server-no-independent-requests-on-stream',
      'sep-2575-missing-capability-http-400',
      'sep-2575-server-no-log-without-loglevel',
      'sep-2575-server-rejects-undeclared-capability',
    ],
    'tools-list': [],
    'resources-list': [],
    'dns-rebinding-protection': [],
    'sep-2164-resource-not-found': [],
    'http-header-validation': [],
    caching: ['sep-2549-prompts-list-caching-hints'],
  },
}

describe('the official conformance suite', () => {
  const forwarder = createServer()
  after(() => forwarder.close())

  it('finds nothing that the service does against the specification', async (t) => {
    const origin = await listening(forwarder)
    const service = await startService({ env: { CORS_ORIGINS: origin }, until: t })
    const { caller } = await newAgent(service)
    forward(forwarder, service.baseUrl, caller.headers)
    for (const [revision, expected] of Object.entries(scenarios)) {
      const failed = await failedChecks(`${origin}/v1/mcp`, revision, Object.keys(expected))
      assert.deepEqual(failed, expected, revision)
    }
  })
})

async function listening(server: Server): Promise<string> {
  server.listen(0, 'localhost')
  await once(server, 'listening')
  return `http://localhost:${(server.address() as AddressInfo).port}`
}

/** The suite sends no token, so this adds it. Everything else passes as it is sent, Host and Origin too. */
function forward(server: Server, target: string, credentials: Record<string, string>): void {
  server.on('request', (incoming, response) => {
    const { method, url, headers } = incoming
    const sent = request(`${target}${url}`, { method, headers: { ...headers, ...credentials } }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    incoming.pipe(sent)
  })
}

/** The checks of the scenarios that fail. */
async function failedChecks(url: string, revision: string, scenarios: string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-conformance-'))
  // It exits with 1, because it counts the scenarios that need test tools.
  const given = [suite, 'server', '--url', url, '--requirements', revision, '-o', folder]
  await new Promise((resolve) => execFile(process.execPath, given, { cwd: folder }, resolve))
  const ran = await readdir(folder)
  const failed: Record<string, string[]> = {}
  for (const scenario of scenarios) {
    const name = ran.find((one) => one.startsWith(`server-${scenario}-2`)) ?? `no ${scenario}`
    const checks: { id: string; status: string }[] = JSON.parse(
      await readFile(join(folder, name, 'checks.json'), 'utf8'),
    )
    failed[scenario] = checks.flatMap(({ id, status }) => (status === 'FAILURE' ? [id] : [])).sort()
  }
  await rm(folder, { recursive: true })
  return failed
}
