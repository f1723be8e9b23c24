import type { FastifyReply, FastifyRequest } from 'fastify'
import { comesAsForm } from '../../http/body.ts'
import { toProblem } from '../../http/errors.ts'
import type { Parsed } from '../../http/fields.ts'
import { catalogue, Problem, type ProblemCode } from '../../http/problems.ts'
import { basicCredentials } from '../authenticate.ts'
import type { ClientTokenCommand } from './schemas.ts'

type ValueOf<S> = S extends Parsed<infer T> ? T : never
type TokenRequest = ValueOf<typeof ClientTokenCommand>
type TokenForm = Extract<TokenRequest, { grant_type: string }>

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
  if (form.scope !== null) throw new Problem('invalid-scope')
  const basic = basicCredentials(request)
  if (basic === undefined) return { clientId: form.client_id ?? '', clientSecret: form.client_secret ?? '' }
  assertOnce(form, basic)
  return basic
}

/** A form with Basic may repeat the client's name, and nothing else. */
function assertOnce(form: TokenForm, basic: ClientSecret): void {
  const isSame = form.client_id === null || form.client_id === basic.clientId
  if (isSame && form.client_secret === null) return
  const member = isSame ? 'client_secret' : 'client_id'
  const detail = `${member} may not be given with Basic.`
  throw new Problem('validation-failed', { errors: [{ pointer: `#/${member}`, code: 'repeated', detail }] })
}

/** Answers a form with a token (RFC 6749 §5.1). */
export function sendStandardToken(
  reply: FastifyReply,
  accessToken: string,
  ttlSeconds: number,
): FastifyReply {
  const answer = { access_token: accessToken, token_type: 'Bearer', expires_in: ttlSeconds }
  return reply
    .header('pragma', 'no-cache')
    .header('content-type', 'application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(answer)
}

const errorCodes: Partial<Record<ProblemCode, string>> = {
  'invalid-client': 'invalid_client',
  'invalid-scope': 'invalid_scope',
  'unsupported-grant-type': 'unsupported_grant_type',
  'unsupported-token-type': 'unsupported_token_type',
  'internal-error': 'server_error',
}

/**
 * The error handler of routes that take forms. A form gets the problem as JSON with the members of RFC 6749
 * §5.2 added, and a refused client is asked for Basic.
 */
export function refuseForm(error: Error, request: FastifyRequest): never {
  const problem = toProblem(error)
  if (!comesAsForm(request)) throw problem
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
