import type { FastifyRequest } from 'fastify'
import { Problem } from '../problems/problems.ts'
import { factsOf } from './fields.ts'
import { Form, formType } from './form-text.ts'
import type { App } from './route.ts'

const jsonType = /^application\/(?:[a-z0-9!#$&^_.+-]+\+)?json$/i
/** A byte order mark is kept, so that JSON.parse refuses it (RFC 8259 §8.1). */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Bodies are JSON in UTF-8 (section 1 of the contract), or a form if the operation takes one. The media type
 * is checked before the body is read: 415 comes before 413.
 */
export function registerBodies(app: App): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    const schema = request.routeOptions.schema?.body
    // Where no body is expected, a content type without a body is allowed.
    if (body.length === 0 && schema === undefined) return done(null, undefined)
    const isForm = factsOf(schema).form !== undefined && comesAsForm(request)
    try {
      done(null, isForm ? parseForm(body as Buffer) : parseJson(body as Buffer))
    } catch (error) {
      done(error as Error, undefined)
    }
  })
  app.addHook('preParsing', (request, _reply, payload, done) => {
    try {
      assertAcceptable(request)
      // Without a body, the default applies. The validator would get null, as it does for the JSON `null`.
      if (factsOf(request.routeOptions.schema?.body).isOptionalBody) request.body = {}
      done(null, payload)
    } catch (error) {
      done(error as Error)
    }
  })
}

function assertAcceptable(request: FastifyRequest): void {
  const { headers, method } = request.raw
  if (method === 'GET' || method === 'HEAD') return
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  const body = request.routeOptions.schema?.body
  const { form, isOptionalBody } = factsOf(body)
  if (!hasBody && (body === undefined || isOptionalBody)) return
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== '') {
    throw new Problem('unsupported-media-type', { detail: 'A body cannot have a Content-Encoding.' })
  }
  if ((headers['transfer-encoding'] ?? 'chunked').toLowerCase() !== 'chunked') {
    throw new Problem('unsupported-media-type', { detail: 'A body cannot have a coding but chunked.' })
  }
  if (request.routeOptions.config.takesBytes) return
  const [type, ...parameters] = mediaTypeOf(request)
  const isFormAlone = form !== undefined && form === body
  const isTaken = jsonType.test(type) ? !isFormAlone : form !== undefined && isFormType(type)
  if (isTaken && parameters.every(isAcceptableParameter)) return
  const taken =
    form === undefined ? 'application/json' : isFormAlone ? formType : `application/json or ${formType}`
  throw new Problem('unsupported-media-type', { detail: `The body must be ${taken} in UTF-8.` })
}

export function comesAsForm(request: FastifyRequest): boolean {
  return isFormType(mediaTypeOf(request)[0])
}

const isFormType = (type: string) => type.toLowerCase() === formType

/** The type, and its parameters. */
function mediaTypeOf({ raw }: FastifyRequest): [type: string, ...parameters: string[]] {
  const [type = '', ...parameters] = (raw.headers['content-type'] ?? '').split(';').map((part) => part.trim())
  return [type, ...parameters]
}

function isAcceptableParameter(parameter: string): boolean {
  const [name = '', value = ''] = parameter.split('=').map((part) => part.trim().toLowerCase())
  return name !== 'charset' || value === 'utf-8' || value === '"utf-8"' || value === 'utf8'
}

function parseForm(body: Buffer): Form {
  try {
    return new Form(utf8.decode(body))
  } catch (cause) {
    const errors = [{ pointer: '#', code: 'encoding', detail: 'The form must be UTF-8.' }]
    throw new Problem('validation-failed', { errors, cause })
  }
}

/**
 * Throws `malformed-json` for what is not JSON in UTF-8, and for keys that could reach an object's prototype.
 */
export function parseJson(body: Buffer): unknown {
  let text: string
  let value: unknown
  try {
    text = utf8.decode(body)
    value = JSON.parse(text)
  } catch (cause) {
    throw new Problem('malformed-json', { detail: 'The body is not JSON in UTF-8.', cause })
  }
  if (/__proto__|constructor|\\u/.test(text) && hasForbiddenKey(value)) {
    throw new Problem('malformed-json', { detail: '`__proto__` and `constructor` are not accepted as keys.' })
  }
  return value
}

/** Without recursion: brackets in 64 KiB can nest deeper than the stack. */
function hasForbiddenKey(root: unknown): boolean {
  const open: unknown[] = [root]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value !== 'object' || value === null) continue
    if (Object.hasOwn(value, '__proto__') || Object.hasOwn(value, 'constructor')) return true
    for (const member of Object.values(value)) open.push(member)
  }
  return false
}
