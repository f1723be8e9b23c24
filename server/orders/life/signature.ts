import type { FastifyRequest } from 'fastify'
import {
  type Assertion,
  challengeFrom,
  type DecisionStatement,
  type KeptSignature,
  verifyDecision,
} from '../../../proof/decision.ts'
import { countTouch, type Touch, takeChallenge } from '../../caller/touch.ts'
import type { EventColumns, Trx } from '../../db/tables.ts'
import { callerOf, header } from '../../http/route.ts'
import { Problem } from '../../problems/problems.ts'
import type { Asking } from '../conditions.ts'
import type { Decided } from '../event.ts'
import { type DecisionName, decimalOf } from '../order.ts'
import type { OrderParts, PresentedAssertion } from '../requests.ts'

/** A signature that holds, as far as the request alone can show it. */
export interface Signed {
  statement: DecisionStatement
  /** Those of its hashes, by name. */
  salts: Record<string, string>
  touch: Touch
  kept: KeptSignature
}

/** What `Decision-Signature` brought: a signature, or why it does not count. */
export type Signature = Signed | { fault: string }

export const signatureHeader = header(
  'Decision-Signature',
  'Base64url of the JSON `{statement, salts, index, size, path, credential}`: a statement of POST /v1/orders/decisions as it was given, the salts of its hashes by name, its place in the RFC 9162 tree under the challenge, and the `AuthenticationResponseJSON` of the touch. At most 8 KiB. Needed where the order asks for a passkey.',
  { maxLength: 8_192, pattern: '^[A-Za-z0-9_-]+$', example: 'eyJzdGF0ZW1lbnQiOiJ7XCJhY3Rpb24i' },
)

/** In base64url. A statement has some 700 bytes, a path of 100 at most 7 hashes. */
const headerLimit = 8_192

interface Request {
  action: DecisionName
  id: string
}

/**
 * The signature of a request, checked against everything but the order, which only the write can do. Null
 * without the header.
 */
export async function readSignature(
  parts: OrderParts,
  request: FastifyRequest,
  decided: Request,
): Promise<Signature | null> {
  const given = request.headers['decision-signature']
  if (given === undefined) return null
  const read = typeof given === 'string' ? parse(given) : undefined
  if (read === undefined) {
    const form = 'base64url of JSON with statement, salts, index, size, path and credential'
    return { fault: `it must be ${form}, ${headerLimit} characters at most` }
  }
  return check(parts, request, decided, read)
}

async function check(
  { statements, touches, clock }: OrderParts,
  request: FastifyRequest,
  { action, id }: Request,
  { salts, ...given }: Header,
): Promise<Signature> {
  const statement = statements.read(given.statement)
  if (statement === undefined) return { fault: 'the statement is not one of this service' }
  const expected = { action, byId: callerOf(request).id, iss: touches.issuer() }
  const facts = Object.entries(expected) as [keyof typeof expected, unknown][]
  const differing = facts.filter(([name, value]) => statement[name] !== value).map(([name]) => name)
  if (statement.order.id !== id) differing.push('order.id' as never)
  if (differing.length > 0) return { fault: differs(differing) }
  const expiresAt = Date.parse(statement.until)
  if (expiresAt <= clock()) return { fault: 'the statement has expired' }
  const challenge = await challengeFrom(given).catch(() => undefined)
  if (challenge === undefined) return { fault: 'the path does not fit the place of the statement' }
  const verified = await touches.verify(request, given.credential, { nonce: challenge, expiresAt })
  if (verified === undefined) return { fault: 'no passkey of this account has signed the statement' }
  const { touch, publicKey } = verified
  const kept = { ...given, credential: withoutHandle(given.credential) }
  // The library also takes signatures in other spellings, which nobody could check in the log.
  const holds = await verifyDecision(kept, publicKey).catch(() => undefined)
  return holds ? { statement, salts, touch, kept } : { fault: 'the signature has another spelling' }
}

/** Why the signature does not count for the caller in this right; undefined if it does, as far as we know. */
export function faultFor(signature: Signature, asking: Asking): string | undefined {
  if ('fault' in signature) return signature.fault
  return signature.statement.forId === (asking.for?.id ?? null) ? undefined : differs(['for'])
}

/**
 * Compares the statement with the order as it was before this change, and uses the touch. Any number of
 * statements may be under one touch; its first use compares the counter. Throws `decision-signature-invalid`.
 */
export async function takeSignature(
  trx: Trx,
  signature: Signed,
  { version, total, documents = [] }: Decided & { documents?: string[] },
  { byId: principalId, nowMilliseconds }: { byId: number; nowMilliseconds: number },
): Promise<Signed> {
  const { statement, touch } = signature
  const order = { version: version - 1, total: decimalOf(total) }
  const names = Object.keys(order) as (keyof typeof order)[]
  const differing: string[] = names.filter((name) => statement.order[name] !== order[name])
  if (String(statement.documents) !== String(documents)) differing.push('list of documents')
  if (differing.length > 0) throw signatureInvalid(differs(differing))
  const isFirst = await takeChallenge(trx, touch.challenge)
  const counter = isFirst ? touch.counter : null
  if (!(await countTouch(trx, { id: touch.passkeyId, principalId, counter, nowMilliseconds }))) {
    throw signatureInvalid('the passkey was removed meanwhile, or was used again')
  }
  return signature
}

/** Throws `decision-signature-invalid` unless the statement has exactly the hashes of the event. */
export function requireHashes({ hashes: signed }: DecisionStatement, event: EventColumns): void {
  const hashes: Record<string, string> = JSON.parse(event.hashes)
  const names = Object.keys({ ...hashes, ...signed })
  const differing = names.filter((name) => hashes[name] !== signed[name])
  if (differing.length > 0) throw signatureInvalid(differs(differing))
}

const differs = (names: readonly string[]) => `the statement has another ${names.join(', another ')}`

export function signatureInvalid(fault: string): Problem {
  const detail = `${fault.charAt(0).toUpperCase()}${fault.slice(1)}.`
  const errors = [{ header: 'Decision-Signature', code: 'mismatch', detail }]
  return new Problem('decision-signature-invalid', { detail, errors })
}

/** As it is sent. */
interface Header extends KeptSignature {
  salts: Record<string, string>
  credential: PresentedAssertion
}

/** The handle names the account, which the statement also does, and is not signed. */
function withoutHandle({ id, response }: PresentedAssertion): Assertion {
  const { userHandle: _, ...signed } = response
  return { id, response: signed }
}

const base64url = /^[A-Za-z0-9_-]+$/
const isBase64url = (value: unknown): value is string => typeof value === 'string' && base64url.test(value)
const isSalts = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((salt) => typeof salt === 'string' && /^[0-9a-f]{32}$/.test(salt))
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** Undefined for anything else. Members that are not kept, such as `type` of the credential, are ignored. */
function parse(text: string): Header | undefined {
  if (text.length > headerLimit || !isBase64url(text)) return undefined
  try {
    const json = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'base64url'))
    const { statement, salts, index, size, path, credential } = JSON.parse(json)
    const isWhole =
      typeof statement === 'string' &&
      statement.isWellFormed() &&
      isSalts(salts) &&
      isCount(index) &&
      isCount(size) &&
      Array.isArray(path) &&
      path.every((hash) => typeof hash === 'string' && /^[A-Za-z0-9+/]{43}=$/.test(hash))
    const kept = isWhole ? readCredential(credential) : undefined
    return kept && { statement, salts, index, size, path, credential: kept }
  } catch {
    return undefined
  }
}

function readCredential({ id, response }: PresentedAssertion): PresentedAssertion | undefined {
  const { clientDataJSON, authenticatorData, signature, userHandle = null } = response
  const texts = [
    id,
    clientDataJSON,
    authenticatorData,
    signature,
    ...(userHandle === null ? [] : [userHandle]),
  ]
  if (!texts.every(isBase64url)) return undefined
  return { id, response: { clientDataJSON, authenticatorData, signature, userHandle } }
}
