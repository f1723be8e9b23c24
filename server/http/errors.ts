import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { DatabaseUnavailable, isRefusedChange, QueryTooSlow, TimedOut, TooManyWaiting } from '../db/errors.ts'
import { newOpaqueId } from '../ids.ts'
import { catalogue, type ProblemCode } from '../problems/catalogue.ts'
import { bearerChallenge, Problem, retryAfter } from '../problems/problems.ts'
import { answerOn, isSelfLimited } from './connections.ts'
import { limitKey } from './rate-limit.ts'
import type { RefusalLog } from './refusal-log.ts'
import { isDecodable, urlLimitBytes } from './request-context.ts'
import type { App } from './route.ts'

/**
 * Not imported: importing node:http also loads fetch, which takes a twelfth of the start-up time (ADR 25).
 */
const { STATUS_CODES } = process.getBuiltinModule('node:http')

/** A longer path is cut in `instance`. */
const repeatedPathLimit = 1_024

const frameworkCodes: Record<string, ProblemCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body-too-large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported-media-type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'bad-request',
  FST_ERR_CTP_EMPTY_TYPE: 'unsupported-media-type',
  ECONNRESET: 'bad-request',
}

/** Answers every error that is thrown with one problem (RFC 9457). An unknown error is a fixed 500. */
export function registerErrors(app: App, publicUrl: () => string): void {
  app.decorateRequest('problem', null)
  app.setErrorHandler((error: FastifyError | Error, request, reply) => {
    const problem = toProblem(error)
    // An instance that refuses requests while it shuts down is not at fault.
    const { cause } = problem
    const isKnown = problem.code === 'shutting-down' || isRefusedChange(cause)
    if (problem.status >= 500 && !isKnown) {
      const level = problem.status === 500 ? 'error' : 'warn'
      request.log[level]({ err: cause ?? problem }, problem.code)
    }
    return sendProblem(problem, request, reply, publicUrl())
  })
}

const refusing = { full: 'its disk is full', 'read-only': 'it is read-only' }

export function toProblem(error: Error): Problem {
  if (error instanceof Problem) return error
  if (error instanceof TooManyWaiting) {
    return new Problem('overloaded', { cause: error, headers: retryAfter(1_000) })
  }
  if (error instanceof DatabaseUnavailable) {
    const code = error instanceof TimedOut ? 'timed-out' : 'database-unavailable'
    const { refusesWrites } = error
    const detail = refusesWrites && { detail: `The database takes no changes: ${refusing[refusesWrites]}.` }
    return new Problem(code, { cause: error, headers: retryAfter(2_000), ...detail })
  }
  if (error instanceof QueryTooSlow) return new Problem('filter-too-expensive', { cause: error })
  const code = 'code' in error && typeof error.code === 'string' ? frameworkCodes[error.code] : undefined
  const isRequestsFault =
    'statusCode' in error && Number(error.statusCode) >= 400 && Number(error.statusCode) < 500
  return new Problem(code ?? (isRequestsFault ? 'bad-request' : 'internal-error'), { cause: error })
}

export function sendProblem(
  problem: Problem,
  request: FastifyRequest,
  reply: FastifyReply,
  publicUrl: string,
): FastifyReply {
  const { [problem.code]: status = problem.status } = request.routeOptions.config.problemStatus ?? {}
  const body = { ...tellProblem(problem, request, publicUrl), status }
  if (status === 401) reply.header('www-authenticate', bearerChallenge)
  return reply
    .code(status)
    .header('content-type', 'application/problem+json')
    .headers(problem.headers)
    .serializer((body: unknown) => body as string)
    .send(JSON.stringify(body))
}

/** Answers with a problem as the caller sees it. The line of the request names it too. */
export function tellProblem(problem: Problem, request: FastifyRequest, publicUrl: string) {
  request.problem = problem.code
  const path = pathWithoutSecrets(request.originalUrl).slice(0, repeatedPathLimit)
  return problemBody(problem, publicUrl, path, request.id)
}

function problemBody(problem: Problem, publicUrl: string, instance: string, requestId: string) {
  const { status, title, remedy } = catalogue[problem.code]
  return {
    type: `${publicUrl}/problems/${problem.code}`,
    title,
    status,
    detail: problem.detail ?? remedy,
    instance,
    code: problem.code,
    requestId,
    ...problem.members,
    ...(problem.errors === undefined ? {} : { errors: problem.errors }),
  }
}

/** The path without its query, which may hold secrets. Like the router it also ends a path at `#`. */
export function pathOf(url = '/'): string {
  const end = url.search(/[?#]/)
  return end < 0 ? url : url.slice(0, end)
}

/** At least as long as what `newSecret` makes. */
const secretLike = /[\w-]{43,}/g

/** The path as answers and logs may show it, because a caller may have pasted a secret into it. */
export function pathWithoutSecrets(url?: string): string {
  const path = pathOf(url)
  const spelt = path.includes('%') && isDecodable(path) ? decodeURIComponent(path) : path
  return spelt.search(secretLike) < 0 ? path : spelt.replaceAll(secretLike, '***')
}

const parserCodes: Record<string, ProblemCode> = {
  HPE_HEADER_OVERFLOW: 'headers-too-large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'body-too-large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
}

/** For answers that are written by hand. */
export interface BareAnswers {
  publicUrl: () => string
  apiHeaders: Record<string, string>
  refusals: RefusalLog
}

/** What the HTTP parser refuses never becomes a request: the answer is written to the socket by hand. */
export function answerParserError(error: NodeJS.ErrnoException, socket: Socket, parts: BareAnswers): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const refusal = { reason: error.code, address: limitKey(socket.remoteAddress ?? '') }
  const running = answerOn(socket)
  // Node goes on receiving.
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isSelfLimited(running)) return
  // The previous request is complete: send its answer, then end the connection.
  if (running?.req.complete) {
    running.once('close', () => socket.destroy())
    parts.refusals.note(refusal)
    return
  }
  const problem = startsWithLongUrl(error) ? 'uri-too-long' : (parserCodes[error.code ?? ''] ?? 'bad-request')
  const { requestId, status, headers, body } = bareAnswer(problem, parts)
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields.join('\r\n')}\r\n\r\n${body}`)
  parts.refusals.note({ requestId, problem, ...refusal })
}

/** For Node's `checkExpectation` event: an Expect other than 100-continue never becomes a request either. */
export function answerExpectation(
  request: IncomingMessage,
  response: ServerResponse,
  parts: BareAnswers,
): void {
  const problem = 'expectation-failed'
  const { requestId, status, headers, body } = bareAnswer(problem, parts)
  response.writeHead(status, headers).end(body)
  const address = limitKey(request.socket.remoteAddress ?? '')
  parts.refusals.note({ requestId, problem, reason: undefined, address })
}

function bareAnswer(code: ProblemCode, { publicUrl, apiHeaders }: BareAnswers) {
  const problem = new Problem(code)
  const requestId = newOpaqueId()
  const body = JSON.stringify(problemBody(problem, publicUrl(), '/', requestId))
  const headers = {
    ...apiHeaders,
    'x-request-id': requestId,
    'content-type': 'application/problem+json',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }
  return { requestId, status: problem.status, headers, body }
}

/** Whether the parser gave up inside the request line, judged by the last packet. */
function startsWithLongUrl(error: NodeJS.ErrnoException & { rawPacket?: Buffer }): boolean {
  if (error.code !== 'HPE_HEADER_OVERFLOW' || error.rawPacket === undefined) return false
  const start = error.rawPacket.subarray(0, urlLimitBytes).toString('latin1')
  return /^[A-Z-]+ [/h][^\n]*$/.test(start)
}
