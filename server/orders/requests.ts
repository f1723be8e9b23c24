import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Assertion, PublicKey } from '../../proof/decision.ts'
import type { LogLine } from '../../proof/line.ts'
import { stampOf } from '../caller/stamp.ts'
import type { Challenge, Touch } from '../caller/touch.ts'
import { type Clock, parseTimeZone } from '../clock.ts'
import type { Config } from '../config.ts'
import type { AppDatabase } from '../db/port.ts'
import type { Allowance } from '../http/allowance.ts'
import type { Exports } from '../http/export.ts'
import {
  announceReplay,
  type Fingerprint,
  idempotencyKeyHeader,
  type Once,
  readIdempotency,
} from '../http/idempotency.ts'
import { linkHeader } from '../http/paging.ts'
import { cacheControl, etagHeader, ifNoneMatchHeader, versionTag } from '../http/preconditions.ts'
import { requireUuid } from '../http/resource.ts'
import { callerOf, header } from '../http/route.ts'
import { Problem } from '../problems/problems.ts'
import type { Statements } from './statements.ts'

export interface OrderParts {
  config: Config
  db: AppDatabase
  clock: Clock
  exports: Exports
  receipts: ReceiptSigner
  statements: Statements
  fingerprint: Fingerprint
  touches: Touches
  allowance: Allowance
}

export interface PresentedAssertion extends Assertion {
  response: Assertion['response'] & { userHandle: string | null }
}

/** Asks the passkeys of people, and checks their answers. */
export interface Touches {
  /** The address that a statement names. */
  issuer(): string
  /** Undefined if the account has no passkey. */
  options(principalId: number, challenge: string): Promise<RequestOptions | undefined>
  /** Undefined unless a passkey of the caller has signed the challenge. */
  verify(
    request: FastifyRequest,
    answer: PresentedAssertion,
    challenge: Challenge,
  ): Promise<{ touch: Touch; publicKey: PublicKey } | undefined>
}

/** `PublicKeyCredentialRequestOptionsJSON` of WebAuthn Level 3. */
export interface RequestOptions {
  challenge: string
  timeout: number
  rpId: string
  allowCredentials: { type: string; id: string }[]
  userVerification: 'required'
}

export interface ReceiptSigner {
  /** The receipt of these lines, with the place of each in the log. */
  sign(lines: readonly LogLine[]): Promise<string>
  /**
   * Whether a kept receipt is current: same lines and issuer, keys still published, every available
   * cosignature.
   */
  isCurrent(receipt: string, lines: readonly LogLine[]): Promise<boolean>
}

export const idParameter = {
  id: {
    description: 'Id of the order, in upper or lower case. A malformed id is answered like an unknown one.',
    schema: { type: 'string', format: 'uuid' },
    example: '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57',
  },
}

/** Headers that every read declares, because the caller may have the answer already. */
export const reading = {
  access: 'Orders.Read',
  requestHeaders: [ifNoneMatchHeader],
  responseHeaders: { 200: [etagHeader] },
} as const
export const readingPages = { ...reading, responseHeaders: { 200: [linkHeader, etagHeader] } } as const
export const readingOrder = { ...reading, parameters: idParameter, problems: ['order-not-found'] } as const

export const timeZoneHeader = (ofWhat: string) =>
  header(
    'Time-Zone',
    `IANA time zone ${ofWhat}. Without it: that of the user, or else that of the service.`,
    { example: 'Europe/Berlin' },
  )

/** Headers that every change declares, because it may be sent again under its key. */
export const changeHeaders = [timeZoneHeader('of the change'), idempotencyKeyHeader]

/** The id in the path. Throws `order-not-found` if it is not a UUID. */
export function requireOrderId(request: FastifyRequest): string {
  return requireUuid(request, 'order-not-found')
}

/**
 * Who changes something, when, where, and under which key. Throws `invalid-time-zone`,
 * `invalid-idempotency-key`.
 */
export function readChange(request: FastifyRequest, { config, clock, fingerprint }: OrderParts) {
  const now = clock()
  const stamp = stampOf(callerOf(request), now, readTimeZone(request, config))
  return { stamp, idempotency: readIdempotency(request, fingerprint, now) }
}

/** Answers a change with the new version. */
export function sendChanged(reply: FastifyReply, changed: Once<{ version: number }>): FastifyReply {
  announceChange(reply, changed)
  return reply.code(204).send()
}

export function announceChange(reply: FastifyReply, changed: Once<{ version: number }>): void {
  announceReplay(reply, changed)
  reply.header('etag', versionTag(changed.result.version)).header('cache-control', cacheControl)
}

/** The `Time-Zone` of a request. Throws `invalid-time-zone`. */
export function readTimeZone(request: FastifyRequest, config: Config): string {
  const given = request.headers['time-zone']
  if (given === undefined) return request.principal?.timeZone ?? config.defaultTimeZone
  const zone = typeof given === 'string' ? parseTimeZone(given) : undefined
  if (zone !== undefined) return zone
  const detail = 'Time-Zone must be an IANA name such as Europe/Berlin.'
  throw new Problem('invalid-time-zone', {
    detail,
    errors: [{ header: 'Time-Zone', code: 'unknown', detail }],
  })
}
