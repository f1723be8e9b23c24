import assert from 'node:assert/strict'
import {
  Client as StatelessClient,
  StreamableHTTPClientTransport as StatelessTransport,
} from '@modelcontextprotocol/client'
import { Client as InitializingClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as InitializingTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Client as OldestClient } from 'mcp-sdk-oldest/client/index.js'
import { StreamableHTTPClientTransport as OldestTransport } from 'mcp-sdk-oldest/client/streamableHttp.js'
import { newClient, serviceToken, type TestClient } from './accounts.ts'
import type { Answer, Client } from './client.ts'
import type { Service } from './service.ts'

/** They begin with `initialize`. */
export const earlier = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const
export const revisions = ['2026-07-28', ...earlier] as const
export type Revision = (typeof revisions)[number]

/** A service client that may find, read, create and note, with a caller for it. */
export async function newAgent(
  service: Service,
  { roles = ['Operator'], ownerId = null }: { roles?: string[]; ownerId?: number | null } = {},
): Promise<TestClient & { caller: Client }> {
  const client = await newClient(service, roles, ownerId)
  return { ...client, caller: service.client().withBearer(await serviceToken(service, client)) }
}

export interface Message {
  jsonrpc: '2.0'
  id?: unknown
  method: string
  params?: Record<string, unknown>
}

/** A request as the revision wants it, with its headers. */
export function messageOf(
  method: string,
  params: Record<string, unknown> = {},
  revision: Revision = '2026-07-28',
): [message: Message, headers: Record<string, string>] {
  const version = { 'mcp-protocol-version': revision }
  const message = { jsonrpc: '2.0' as const, id: 1, method, params }
  if (revision !== '2026-07-28') return [message, method === 'initialize' ? {} : version]
  const prefix = 'io.modelcontextprotocol'
  const _meta = {
    [`${prefix}/protocolVersion`]: revision,
    [`${prefix}/clientInfo`]: { name: 'test', version: '1.0.0' },
    [`${prefix}/clientCapabilities`]: {},
  }
  const name = params.name ?? params.uri
  return [
    { ...message, params: { ...params, _meta } },
    { ...version, 'mcp-method': method, ...(typeof name === 'string' && { 'mcp-name': name }) },
  ]
}

export function callMcp(
  caller: Client,
  method: string,
  params?: Record<string, unknown>,
  revision?: Revision,
): Promise<Answer> {
  return caller.post('/v1/mcp', ...messageOf(method, params, revision))
}

/** The result of a tool that succeeds: the same as structure and as text. */
export async function callTool(caller: Client, name: string, given: Record<string, unknown>) {
  const answer = await callMcp(caller, 'tools/call', { name, arguments: given })
  assert.equal(answer.status, 200, answer.text)
  const { content, structuredContent, isError } = answer.body.result
  assert.equal(isError, false, answer.text)
  assert.deepEqual(JSON.parse(content[0].text), structuredContent)
  return structuredContent
}

/** The problem that a tool answers. */
export async function refusalOf(caller: Client, name: string, given: Record<string, unknown>) {
  const answer = await callMcp(caller, 'tools/call', { name, arguments: given })
  assert.equal(answer.status, 200, answer.text)
  const { content, structuredContent, isError } = answer.body.result
  assert.equal(isError, true, answer.text)
  assert.equal(structuredContent, undefined)
  return JSON.parse(content[0].text)
}

export const proposal = (key: string, more: Record<string, unknown> = {}) => ({
  ...{ customer: 'Acme', total: 12.5, why: 'They reordered.', idempotencyKey: key },
  ...more,
})

const about = { name: 'test', version: '1.0.0' }

function transportOptions({ baseUrl, headers }: Client) {
  return [new URL(`${baseUrl}/v1/mcp`), { requestInit: { headers } }] as const
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape
type Result = Promise<any>

/** The methods that all official clients have. */
export interface OfficialClient {
  getServerVersion(): { name: string } | undefined
  getServerCapabilities(): object | undefined
  getInstructions(): string | undefined
  listTools(): Result
  listResources(): Result
  listResourceTemplates(): Result
  readResource(wanted: { uri: string }): Result
  /** Undefined where the revision has no such method. */
  ping?(): Result
  /** Rejected once the signal says so. */
  call(name: string, given: Record<string, unknown>, signal?: AbortSignal): Result
  close(): Promise<void>
}

const initializing = (Official: unknown, Transport: unknown) => async (caller: Client) => {
  const client = new (Official as typeof InitializingClient)(about)
  const transport = new (Transport as typeof InitializingTransport)(...transportOptions(caller))
  await client.connect(transport as never)
  return Object.assign(client, {
    call: (name: string, given: Record<string, unknown>, signal?: AbortSignal) =>
      client.callTool({ name, arguments: given }, undefined, signal && { signal }),
  })
}

/** The client of 2026-07-28, and the newest and oldest releases that begin with `initialize`. */
export const officialClients: Record<string, (caller: Client) => Promise<OfficialClient>> = {
  stateless: async (caller: Client) => {
    const client = new StatelessClient(about, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
    await client.connect(new StatelessTransport(...transportOptions(caller)))
    return Object.assign(client, {
      call: (name: string, given: Record<string, unknown>, signal?: AbortSignal) =>
        client.callTool({ name, arguments: given }, signal && { signal }),
      ping: undefined,
    })
  },
  newest: initializing(InitializingClient, InitializingTransport),
  oldest: initializing(OldestClient, OldestTransport),
}
