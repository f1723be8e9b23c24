import type { IncomingHttpHeaders } from 'node:http'
import { header } from '../http/route.ts'
import { Problem } from '../problems/problems.ts'
import { isObject } from './schemas.ts'

/** Each request says all that it needs (`_meta`), and headers repeat what proxies look at. */
export const stateless = '2026-07-28'
/** Newest first. They begin with `initialize`, but the service keeps no session: requests stand alone. */
export const initialized = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const

/** Newest first. */
export const revisions = [stateless, ...initialized] as const
export type Revision = (typeof revisions)[number]
/** A request that names none speaks this (2025-06-18, Protocol Version Header). */
const unnamed: Revision = '2025-03-26'

export const revisionHeaders = [
  header('MCP-Protocol-Version', `Revision of the protocol. A request without it counts as ${unnamed}.`, {
    example: stateless,
  }),
  header('Mcp-Method', `The method of the message; required from ${stateless} on.`, {
    example: 'tools/call',
  }),
  header(
    'Mcp-Name',
    `The name or uri that the message calls or reads; required from ${stateless} on. May be \`=?base64?…?=\`.`,
    { example: 'find_orders' },
  ),
]

export interface Message {
  method: string
  params: Record<string, unknown>
}

const metaOf = (name: string) => `io.modelcontextprotocol/${name}`
export const serverInfoKey = metaOf('serverInfo')

/**
 * The revision that a request speaks. Throws `mcp-headers-differ`, `mcp-version-unsupported`, and
 * `validation-failed` if `_meta` lacks what 2026-07-28 requires.
 */
export function revisionOf({ method, params }: Message, headers: IncomingHttpHeaders): Revision {
  const { stated, capabilities } = metaIn(params)
  if (method === 'initialize' && stated === undefined) return initialized[0]
  const version = headers['mcp-protocol-version']
  if (stated !== undefined) assertSame('MCP-Protocol-Version', version, stated)
  const revision = supported(version ?? unnamed)
  if (revision !== stateless) return revision
  if (stated === undefined) throw invalidParam('_meta', `must have ${metaOf('protocolVersion')}.`)
  if (!isObject(capabilities)) {
    throw invalidParam('_meta', `must have ${metaOf('clientCapabilities')}.`)
  }
  assertSame('Mcp-Method', headers['mcp-method'], method)
  const named = nameIn[method]
  if (named !== undefined) assertSame('Mcp-Name', decoded(headers['mcp-name']), params[named])
  return revision
}

/** Whether a message speaks a revision before 2026-07-28. Its `params` may be anything. */
export function speaksEarlier(params: unknown, headers: IncomingHttpHeaders): boolean {
  return (headers['mcp-protocol-version'] ?? metaIn(params).stated ?? unnamed) !== stateless
}

function metaIn(params: unknown): { stated: unknown; capabilities: unknown } {
  const meta = isObject(params) && isObject(params._meta) ? params._meta : {}
  return { stated: meta[metaOf('protocolVersion')], capabilities: meta[metaOf('clientCapabilities')] }
}

/** The member of `params` that Mcp-Name repeats. */
const nameIn: Partial<Record<string, string>> = Object.assign(Object.create(null), {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
})

/** Throws `mcp-version-unsupported`. */
export function supported(version: unknown): Revision {
  const revision = revisions.find((known) => known === version)
  if (revision !== undefined) return revision
  throw new Problem('mcp-version-unsupported', { members: { supported: revisions, requested: version } })
}

function assertSame(name: string, sent: unknown, said: unknown): void {
  if (sent !== undefined && sent === said) return
  const detail =
    sent === undefined ? `${name} is required.` : `${name} does not have the value that the message has.`
  throw new Problem('mcp-headers-differ', {
    detail,
    errors: [{ header: name, code: sent === undefined ? 'required' : 'different', detail }],
  })
}

/** Text that a header cannot hold comes in base64. */
function decoded(field: string | string[] | undefined): unknown {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(String(field))?.[1]
  return encoded === undefined ? field : Buffer.from(encoded, 'base64').toString()
}

/** The problem of a member of `params`. */
export function invalidParam(name: string, fault: string): Problem {
  const detail = `${name} ${fault}`
  return new Problem('validation-failed', {
    detail,
    errors: [{ pointer: `#/params/${name}`, code: 'params', detail }],
  })
}
