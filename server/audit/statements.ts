import type { KeyObject } from 'node:crypto'
import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  type JSONWebKeySet,
  jwtVerify,
  SignJWT,
} from 'jose'
import type { Head } from './chain.ts'

/** The signing key, and its name in the JWKS. */
export interface StatementKeys {
  algorithm: 'RS256' | 'PS256'
  kid: string
  privateKey: KeyObject
}

/** What the receipt of an approved order says. The total is a decimal string, as in the log. */
export interface Receipt {
  order: {
    id: string
    version: number
    customer: string
    total: string
    createdBy: string | null
    createdById: number | null
    createdAtUtc: string
  }
  approvals: { by: string; byId: number | null; atUtc: string }[]
  event: { sequence: number; hash: string }
  checkpoint: Head
}

const checkpointType = 'countersign-checkpoint+jwt'
const receiptType = 'countersign-receipt+jwt'

/** A JWS that shows any later change of the first `size` lines of the log. */
export function signCheckpoint(
  keys: StatementKeys,
  issuer: string,
  { size, hash }: Head,
  nowMilliseconds: number,
): Promise<string> {
  return sign(keys, checkpointType, issuer, { size, hash }, nowMilliseconds)
}

export function signReceipt(
  keys: StatementKeys,
  issuer: string,
  { order, approvals, event, checkpoint }: Receipt,
  nowMilliseconds: number,
): Promise<string> {
  return sign(keys, receiptType, issuer, { order, approvals, event, checkpoint }, nowMilliseconds)
}

/**
 * A separate type (RFC 8725 §3.11) without `exp`, `aud` and `sub`: no verifier takes it for an access token,
 * and it does not expire.
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
 * What a checkpoint covers. Its signature is checked against `jwks`, or not at all for null. Throws an Error
 * that says what is wrong.
 */
export async function readCheckpoint(jws: string, jwks: JSONWebKeySet | null): Promise<Head> {
  const { typ } = decodeProtectedHeader(jws)
  if (typ !== checkpointType) throw new Error(`its typ is not ${checkpointType}`)
  const { size, hash } = jwks === null ? decodeJwt(jws) : await verify(jws, jwks)
  if (!isSize(size) || typeof hash !== 'string') throw new Error('it names no size and hash')
  return { size, hash }
}

async function verify(jws: string, jwks: JSONWebKeySet): Promise<Record<string, unknown>> {
  const algorithms = ['RS256', 'PS256'] satisfies StatementKeys['algorithm'][]
  const { payload } = await jwtVerify(jws, createLocalJWKSet(jwks), { algorithms, typ: checkpointType })
  return payload
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}
