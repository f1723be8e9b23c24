import type { FastifyReply, FastifyRequest } from 'fastify'
import { tellProblem, toProblem } from '../http/errors.ts'
import { noContent } from '../http/fields.ts'
import { sendJson } from '../http/paging.ts'
import { type App, type Routes, register, route } from '../http/route.ts'
import type { Problem } from '../problems/problems.ts'
import { type AgentParts, resultOf } from './methods.ts'
import { initialized, revisionHeaders, revisionOf, supported } from './revision.ts'
import { isId, isObject, McpAnswer, McpFailure, McpMessage } from './schemas.ts'

const agentRoutes = (publicUrl: () => string): Routes<AgentParts> => ({
  callMcp: route('POST /v1/mcp', {
    summary: 'Call a tool of an agent',
    description:
      'The Model Context Protocol over streamable HTTP, without sessions: revisions 2026-07-28 and 2025-11-25. A request is answered with one JSON object. A tool needs the permissions of the operations that it stands for; one that changes something also counts as a write.',
    access: 'bearer',
    limit: 'read',
    problems: ['mcp-headers-differ', 'mcp-version-unsupported', 'mcp-method-unknown', 'order-not-found'],
    jsonFailure: { schema: McpFailure, statuses: [400, 404] },
    requestHeaders: revisionHeaders,
    body: McpMessage,
    response: { 200: McpAnswer, 202: noContent },
    errorHandler: (error, request, reply) => sendFailure(error, request, reply, publicUrl()),
    handler: async (parts, request, reply) => {
      const { id, method } = request.body
      if (id === undefined) {
        // A notification changes nothing here: a request ends with its answer, so there is none to cancel.
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

/** A failure with a code in JSON-RPC is answered in its form. Everything else stays a problem. */
function sendFailure(error: Error, request: FastifyRequest, reply: FastifyReply, publicUrl: string) {
  const problem = toProblem(error)
  const speaksEarlier = request.headers['mcp-protocol-version'] === initialized
  const failure = failureOf(problem, speaksEarlier)
  if (failure === undefined) throw error
  const { body } = request as { body: unknown }
  const id = isObject(body) && isId(body.id) ? { id: body.id } : {}
  const { code, message } = failure
  const data = tellProblem(problem, request, publicUrl)
  reply.code(statusOf(code, speaksEarlier && 'id' in id))
  return sendJson(reply, JSON.stringify({ jsonrpc: '2.0', ...id, error: { code, message, data } }))
}

interface Failure {
  code: number
  message: string
}

const invalidRequest: Failure = { code: -32600, message: 'Invalid request' }
const invalidParams: Failure = { code: -32602, message: 'Invalid params' }
const methodNotFound: Failure = { code: -32601, message: 'Method not found' }

function failureOf({ code, errors = [] }: Problem, speaksEarlier: boolean): Failure | undefined {
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
    case 'order-not-found':
      return { code: speaksEarlier ? -32002 : invalidParams.code, message: 'Resource not found' }
    default:
      return undefined
  }
}

/** Clients of 2025-11-25 read an error only from a 200; those of 2026-07-28 expect a status that says it. */
function statusOf(code: number, speaksEarlier: boolean): number {
  const isOfMessage = code === methodNotFound.code || code === invalidParams.code || code === -32002
  if (speaksEarlier && isOfMessage) return 200
  return code === methodNotFound.code ? 404 : 400
}
