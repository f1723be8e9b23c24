import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Permission } from '../caller/permissions.ts'
import { permissionDenied } from '../caller/standing.ts'
import { tellProblem, toProblem } from '../http/errors.ts'
import { parseBy } from '../http/fields.ts'
import type { RequestLimits } from '../http/rate-limit.ts'
import { callerOf } from '../http/route.ts'
import { Problem } from '../problems/problems.ts'
import { readVersion } from '../version.ts'
import type { Resource, Tool } from './agents.ts'
import { withoutNulls } from './model-schema.ts'
import {
  initialized,
  invalidParam,
  type Message,
  type Revision,
  revisions,
  serverInfoKey,
  stateless,
} from './revision.ts'
import { isObject } from './schemas.ts'

export interface AgentParts {
  tools: Record<string, Tool>
  resources: readonly Resource[]
  instructions: string
  limits: RequestLimits
  publicUrl: () => string
}

interface Call {
  parts: AgentParts
  params: Record<string, unknown>
  request: FastifyRequest
  reply: FastifyReply
}

type Method = (call: Call) => object | Promise<object>

const serverInfo = { name: 'countersign', title: 'Countersign', version: readVersion() }
const capabilities = { tools: {}, resources: {} }

const ofAll: Record<string, Method> = {
  'tools/list': ({ parts, params, request }) => {
    assertFirstPage(params)
    const tools = Object.entries(parts.tools).filter(([, offer]) => isOffered(offer, request))
    return { tools: tools.map(describeTool) }
  },
  'tools/call': callTool,
  'resources/list': (call) => ({ resources: listed(call, false) }),
  'resources/templates/list': (call) => ({ resourceTemplates: listed(call, true) }),
  'resources/read': async ({ parts, params, request }) => {
    const { uri } = params
    if (typeof uri !== 'string') throw invalidParam('uri', 'must be a string.')
    const [resource, id] = findResource(parts.resources, uri)
    assertHeld(resource.permissions, request)
    const { mimeType } = resource
    return { contents: [{ uri, mimeType, text: await resource.read(id, request) }] }
  },
}

const ofStateless: Record<string, Method> = {
  'server/discover': ({ parts: { instructions } }) => ({
    supportedVersions: revisions,
    capabilities,
    instructions,
  }),
  ...ofAll,
}

const ofEarlier: Record<string, Method> = {
  // An agent of another revision is offered the newest of these, and may leave.
  initialize: ({ parts: { instructions }, params: { protocolVersion: wanted } }) => {
    if (typeof wanted !== 'string') throw invalidParam('protocolVersion', 'is required.')
    const protocolVersion = initialized.find((known) => known === wanted) ?? initialized[0]
    return { protocolVersion, capabilities, serverInfo, instructions }
  },
  ping: () => ({}),
  ...ofAll,
}

/** How long clients may keep a result. Permissions decide what is listed, and are remembered as long. */
const ttlMilliseconds: Partial<Record<string, number>> = {
  'server/discover': 300_000,
  'tools/list': 300_000,
  'resources/list': 300_000,
  'resources/templates/list': 300_000,
  'resources/read': 0,
}

/**
 * The result of a request. The earlier revisions get nothing that only 2026-07-28 knows: their clients refuse
 * it in the answer to `ping`. Throws `mcp-method-unknown`, and `validation-failed` for what a model cannot
 * correct.
 */
export async function resultOf(revision: Revision, { method }: Message, call: Call): Promise<object> {
  const known = revision === stateless ? ofStateless : ofEarlier
  const run = Object.hasOwn(known, method) ? known[method] : undefined
  if (run === undefined) throw new Problem('mcp-method-unknown')
  const result = await run(call)
  if (revision !== stateless) return result
  const ttlMs = ttlMilliseconds[method]
  const kept = ttlMs === undefined ? {} : { ttlMs, cacheScope: 'private' }
  return { resultType: 'complete', ...result, ...kept, _meta: { [serverInfoKey]: serverInfo } }
}

/** A refusal is a result too: the model reads the problem, and can correct what it did. */
async function callTool({ parts, params, request, reply }: Call): Promise<object> {
  const { name, arguments: given = {} } = params
  const tool = typeof name === 'string' && Object.hasOwn(parts.tools, name) ? parts.tools[name] : undefined
  if (tool === undefined) throw invalidParam('name', 'must be the name of a tool.')
  if (!isObject(given)) throw invalidParam('arguments', 'must be a JSON object.')
  try {
    assertHeld(tool.permissions, request)
    if (!tool.isRead) parts.limits.consume('write', String(callerOf(request).id), reply)
    const text = withoutNulls(await tool.run(parseBy(tool.input, given), request))
    return { content: [{ type: 'text', text }], structuredContent: JSON.parse(text), isError: false }
  } catch (error) {
    const problem = toProblem(error as Error)
    if (problem.status === 401 || problem.status >= 500) throw error
    const text = JSON.stringify(tellProblem(problem, request, parts.publicUrl()))
    return { content: [{ type: 'text', text }], isError: true }
  }
}

function describeTool([name, { title, description, schemas, isRead }]: [string, Tool]) {
  return {
    ...{ name, title, description },
    inputSchema: schemas.input,
    outputSchema: schemas.output,
    annotations: {
      title,
      readOnlyHint: isRead,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
  }
}

const isTemplate = ({ uri }: Resource) => uri.endsWith('{id}')

function listed({ parts, params, request }: Call, templates: boolean): object[] {
  assertFirstPage(params)
  return parts.resources
    .filter((resource) => isTemplate(resource) === templates && isOffered(resource, request))
    .map(({ uri, name, title, description, mimeType }) => ({
      ...(templates ? { uriTemplate: uri } : { uri }),
      ...{ name, title, description, mimeType },
    }))
}

function findResource(resources: readonly Resource[], uri: string): [resource: Resource, id: string] {
  for (const resource of resources) {
    const start = resource.uri.replace(/\{id\}$/, '')
    if (uri === resource.uri && !isTemplate(resource)) return [resource, '']
    if (isTemplate(resource) && uri.startsWith(start)) return [resource, uri.slice(start.length)]
  }
  throw new Problem('mcp-resource-unknown')
}

/** Lists are short: there is one page, so no cursor leads anywhere. */
function assertFirstPage({ cursor }: Record<string, unknown>): void {
  if (cursor !== undefined) throw invalidParam('cursor', 'leads nowhere: there is one page.')
}

/** Tools that the caller could not use are not listed. */
function isOffered({ permissions }: Pick<Tool, 'permissions'>, request: FastifyRequest): boolean {
  return permissions.every((permission) => callerOf(request).permissions.has(permission))
}

/** Throws `permission-denied`. */
function assertHeld(permissions: readonly Permission[], request: FastifyRequest): void {
  const held = callerOf(request).permissions
  const missing = permissions.find((permission) => !held.has(permission))
  if (missing !== undefined) throw permissionDenied(missing)
}
