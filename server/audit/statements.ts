import type { KeyObject } from 'node:crypto'
import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  type JSONWebKeySet,
  jwtVerify,
  SignJWT,
} from 'jose'
import type { ReceiptSignature } from '../../client/src/receipt.ts'
import type { Head } from './tree.ts'

/** The signing key, and its name in the JWKS. */
export interface StatementKeys {
  algorithm: 'RS256' | 'PS256'
  kid: string
  privateKey: KeyObject
  /** The published keys. */
  jwks: { keys: { kid: string }[] }
}

/** What the receipt of an approved order says. The total is a decimal string, as in the log. */
export interface Receipt {
  /** The name of the organisation that runs the service, if it is set. */
  organisation: string | null
  order: {
    id: string
    /** The short number. */
    number: number
    version: number
    customer: string
    total: string
    createdBy: string | null
    createdById: number | null
    createdAtUtc: string
  }
  approvals: {
    by: string
    byId: number | null
    atUtc: string
    /** The absent person in whose place it was given. */
    for: string | null
    forId: number | null
    signature: ReceiptSignature | null
  }[]
  event: { sequence: number; hash: string }
  checkpoint: Head
}

const checkpointType = 'countersign-checkpoint+jwt'
const receiptType = 'countersign-receipt+jwt'

/** Signs a JWS that exposes any later change to the first `size` lines of the log. */
export function signCheckpoint(
  keys: StatementKeys,
  issuer: string,
  { size, root }: Head,
  nowMilliseconds: number,
): Promise<string> {
  return sign(keys, checkpointType, issuer, { size, root }, nowMilliseconds)
}

export function signReceipt(
  keys: StatementKeys,
  issuer: string,
  { organisation, order, approvals, event, checkpoint }: Receipt,
  nowMilliseconds: number,
): Promise<string> {
  const claims = { organisation, order, approvals, event, checkpoint }
  return sign(keys, receiptType, issuer, claims, nowMilliseconds)
}

/** Whether a receipt names this issuer, and can be verified with the published keys. */
export function isCurrentReceipt({ jwks }: StatementKeys, issuer: string, receipt: string): boolean {
  const { kid } = decodeProtectedHeader(receipt)
  return decodeJwt(receipt).iss === issuer && jwks.keys.some((key) => key.kid === kid)
}

/**
 * The token has its own type (RFC 8725 §3.11) and no `exp`, `aud` or `sub`. So no verifier mistakes it for an
 * access token, and it does not expire.
 */
function sign(
  keys: StatementKeys,
  type: string,
  issuer: string,
  claims: Record<string, unknown>,
  nowMilliseconds: number,
): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: keys.algorithm, kid: keys.kid, typ: type })
    .setIssuer(issuer)
    .setIssuedAt(Math.floor(nowMilliseconds / 1000))
    .sign(keys.privateKey)
}

/**
 * Reads what a checkpoint covers. Checks its signature against `jwks`; null skips this check. Throws an Error
 * that says what is wrong.
 */
export async function readCheckpoint(jws: string, jwks: JSONWebKeySet | null): Promise<Head> {
  const { typ } = decodeProtectedHeader(jws)
  if (typ !== checkpointType) throw new Error(`its typ is not ${checkpointType}`)
  const { size, root } = jwks === null ? decodeJwt(jws) : await verify(jws, jwks)
  if (!isSize(size) || typeof root !== 'string') throw new Error('it names no size and root')
  return { size, root }
}

async function verify(jws: string, jwks: JSONWebKeySet): Promise<Record<string, unknown>> {
  const algorithms = ['RS256', 'PS256'] satisfies StatementKeys['algorithm'][]
  const { payload } = await jwtVerify(jws, createLocalJWKSet(jwks), { algorithms, typ: checkpointType })
  return payload
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}
