import type { FastifyReply, FastifyRequest } from 'fastify'
import { tellProblem, toProblem } from '../http/errors.ts'
import { noContent } from '../http/fields.ts'
import { sendJson } from '../http/paging.ts'
import { type App, type Routes, register, route } from '../http/route.ts'
import { Problem } from '../problems/problems.ts'
import { type AgentParts, resultOf } from './methods.ts'
import { revisionHeaders, revisionOf, revisions, speaksEarlier, supported } from './revision.ts'
import { isId, isObject, McpAnswer, McpFailure, McpMessage } from './schemas.ts'

const agentRoutes = (publicUrl: () => string): Routes<AgentParts> => ({
  callMcp: route('POST /v1/mcp', {
    summary: 'Call a tool of an agent',
    description: `The Model Context Protocol over streamable HTTP, without sessions: revisions ${revisions.join(', ')}. A request is answered with one JSON object. A tool needs the permissions of the operations that it stands for; one that changes something also counts as a write.`,
    access: 'bearer',
    limit: 'read',
    problems: [
      'mcp-headers-differ',
      'mcp-version-unsupported',
      'mcp-method-unknown',
      'mcp-resource-unknown',
      'order-not-found',
    ],
    jsonFailure: { schema: McpFailure, statuses: [400, 404] },
    requestHeaders: revisionHeaders,
    body: McpMessage,
    response: { 200: McpAnswer, 202: noContent },
    errorHandler: (error, request, reply) => sendFailure(error, request, reply, publicUrl()),
    handler: async (parts, request, reply) => {
      const { id, method } = request.body
      if (id === undefined) {
        assertNotification(method)
        const version = request.headers['mcp-protocol-version']
        if (version !== undefined) supported(version)
        return reply.code(202).send()
      }
      const message = { method, params: request.body.params ?? {} }
      const revision = revisionOf(message, request.headers)
      const result = await resultOf(revision, message, { parts, params: message.params, request, reply })
      return sendJson(reply, JSON.stringify({ jsonrpc: '2.0', id, result }))
    },
  }),
})

export function registerAgents(app: App, parts: AgentParts): void {
  register(app, 'Agents', agentRoutes(parts.publicUrl), parts)
}

/**
 * A notification changes nothing here: a request ends with its answer, so there is none to cancel. Throws
 * `validation-failed` for a request that forgot its id, which would otherwise wait for an answer.
 */
function assertNotification(method: string): void {
  if (method.startsWith('notifications/')) return
  const detail = 'id is required, except in a notification.'
  throw new Problem('validation-failed', { errors: [{ pointer: '#/id', code: 'required', detail }] })
}

/** A failure with a code in JSON-RPC is answered in its form. Everything else stays a problem. */
function sendFailure(error: Error, request: FastifyRequest, reply: FastifyReply, publicUrl: string) {
  const problem = toProblem(error)
  const body = isObject(request.body) ? request.body : {}
  const isEarlier = speaksEarlier(body.params, request.headers)
  const failure = failureOf(problem, isEarlier)
  if (failure === undefined) throw error
  const id = isId(body.id) ? { id: body.id } : {}
  const { code, message } = failure
  const uri = message === resourceNotFound && isObject(body.params) ? { uri: body.params.uri } : {}
  const data = { ...tellProblem(problem, request, publicUrl), ...uri }
  reply.code(statusOf(code, isEarlier && 'id' in id))
  return sendJson(reply, JSON.stringify({ jsonrpc: '2.0', ...id, error: { code, message, data } }))
}

interface Failure {
  code: number
  message: string
}

const invalidRequest: Failure = { code: -32600, message: 'Invalid request' }
const invalidParams: Failure = { code: -32602, message: 'Invalid params' }
const methodNotFound: Failure = { code: -32601, message: 'Method not found' }
const resourceNotFound = 'Resource not found'

function failureOf({ code, errors = [] }: Problem, isEarlier: boolean): Failure | undefined {
  switch (code) {
    case 'malformed-json':
      return { code: -32700, message: 'Parse error' }
    case 'validation-failed':
      return errors.every(({ pointer }) => pointer?.startsWith('#/params/')) ? invalidParams : invalidRequest
    case 'mcp-method-unknown':
      return methodNotFound
    case 'mcp-headers-differ':
      return { code: -32020, message: 'Header mismatch' }
    case 'mcp-version-unsupported':
      return { code: -32022, message: 'Unsupported protocol version' }
    case 'mcp-resource-unknown':
    case 'order-not-found':
      return { code: isEarlier ? -32002 : invalidParams.code, message: resourceNotFound }
    default:
      return undefined
  }
}

/** Clients of earlier revisions read an error only from a 200; 2026-07-28 expects a status that says it. */
function statusOf(code: number, isEarlier: boolean): number {
  const isOfMessage = code === methodNotFound.code || code === invalidParams.code || code === -32002
  if (isEarlier && isOfMessage) return 200
  return code === methodNotFound.code ? 404 : 400
}
