import type { FastifyReply, FastifyRequest } from 'fastify'
import { comesAsForm } from '../../http/body.ts'
import { toProblem } from '../../http/errors.ts'
import type { Parsed } from '../../http/fields.ts'
import { catalogue, type ProblemCode } from '../../problems/catalogue.ts'
import { Problem } from '../../problems/problems.ts'
import { basicCredentials } from '../authenticate.ts'
import type { ClientTokenCommand, RefreshTokenCommand } from './schemas.ts'

type ValueOf<S> = S extends Parsed<infer T> ? T : never
type TokenRequest = ValueOf<typeof ClientTokenCommand>
type TokenForm = Extract<TokenRequest, { grant_type: string }>
type RefreshRequest = ValueOf<typeof RefreshTokenCommand>

export interface ClientSecret {
  clientId: string
  clientSecret: string
}

/**
 * The client that asks for a token. A form names it by Basic or in the body (RFC 6749 §2.3.1); if by neither,
 * it is empty, which fits no client. Throws what is wrong with the rest of the form.
 */
export function clientOf(request: FastifyRequest & { body: TokenRequest }): ClientSecret {
  if (!('grant_type' in request.body)) return request.body
  const form = request.body
  if (form.grant_type !== 'client_credentials') throw new Problem('unsupported-grant-type')
  const basic = basicCredentials(request)
  if (basic === undefined) return { clientId: form.client_id ?? '', clientSecret: form.client_secret ?? '' }
  assertOnce(form, basic)
  return basic
}

/** The refresh token of a JSON body or of a form (RFC 6749 §6). A form without one has an empty one. */
export function refreshTokenOf(body: RefreshRequest): string {
  if (!('grant_type' in body)) return body.refreshToken
  if (body.grant_type !== 'refresh_token') throw new Problem('unsupported-grant-type')
  return body.refresh_token ?? ''
}

/** A form with Basic may repeat the client's name, and nothing else. */
function assertOnce(form: TokenForm, basic: ClientSecret): void {
  const isSame = form.client_id === null || form.client_id === basic.clientId
  if (isSame && form.client_secret === null) return
  const member = isSame ? 'client_secret' : 'client_id'
  const detail = `${member} may not be given with Basic.`
  throw new Problem('validation-failed', { errors: [{ pointer: `#/${member}`, code: 'repeated', detail }] })
}

/**
 * Answers a form with a token (RFC 6749 §5.1). There are no scopes: a requested one is ignored, and the
 * answer says that the token has none (§3.3).
 */
export function sendStandardToken(
  { body }: FastifyRequest,
  reply: FastifyReply,
  {
    accessToken,
    ttlSeconds,
    refreshToken,
  }: { accessToken: string; ttlSeconds: number; refreshToken?: string },
): FastifyReply {
  const { scope } = body as { scope: string | null }
  const answer = {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: ttlSeconds,
    ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
    ...(scope === null ? {} : { scope: '' }),
  }
  return reply
    .header('pragma', 'no-cache')
    .header('content-type', 'application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(answer)
}

const errorCodes: Partial<Record<ProblemCode, string>> = {
  'invalid-client': 'invalid_client',
  'invalid-grant': 'invalid_grant',
  'unsupported-grant-type': 'unsupported_grant_type',
  'internal-error': 'server_error',
}

/**
 * The error handler of routes that take forms. A form gets the problem as JSON with the members of RFC 6749
 * §5.2 added, and a refused client is asked for Basic.
 */
export function refuseForm(error: Error, request: FastifyRequest): never {
  if (!comesAsForm(request)) throw error
  const thrown = toProblem(error)
  const problem = thrown.code === 'invalid-refresh-token' ? new Problem('invalid-grant') : thrown
  const { code, status, errors } = problem
  const detail = problem.detail ?? errors?.map((each) => each.detail).join(' ') ?? catalogue[code].remedy
  throw new Problem(code, {
    detail,
    members: { ...problem.members, error: errorCodeOf(problem), error_description: detail },
    headers: {
      ...problem.headers,
      'content-type': 'application/json',
      ...(status === 401 ? { 'www-authenticate': 'Basic realm="countersign"' } : {}),
    },
    cause: problem.cause,
    ...(errors === undefined ? {} : { errors }),
  })
}

function errorCodeOf({ code, status }: Problem): string {
  const isPassing = status === 429 || status === 503
  return errorCodes[code] ?? (isPassing ? 'temporarily_unavailable' : 'invalid_request')
}
