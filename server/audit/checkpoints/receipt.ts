import type { KeyObject } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import type { Statement } from '../../../proof/receipt.ts'

/** The signing key, and its name in the JWKS. */
export interface StatementKeys {
  algorithm: 'RS256' | 'PS256'
  kid: string
  privateKey: KeyObject
  /** The published keys. */
  jwks: { keys: { kid: string }[] }
}

/** The content of the receipt of an approved order. `signReceipt` adds the issuer and the time. */
export type Receipt = Omit<Statement, 'iss' | 'iat'>

/**
 * The token has its own type (RFC 8725 §3.11) and no `exp`, `aud` or `sub`. So no verifier mistakes it for an
 * access token, and it does not expire.
 */
export function signReceipt(
  keys: StatementKeys,
  issuer: string,
  { organisation, order, approvals, line, proof, checkpoint }: Receipt,
  nowMilliseconds: number,
): Promise<string> {
  const claims = { organisation, order, approvals, line, proof, checkpoint }
  return new SignJWT(claims)
    .setProtectedHeader({ alg: keys.algorithm, kid: keys.kid, typ: 'countersign-receipt+jwt' })
    .setIssuer(issuer)
    .setIssuedAt(Math.floor(nowMilliseconds / 1000))
    .sign(keys.privateKey)
}

/** Whether a receipt names this issuer, and can be verified with the published keys. */
export function isCurrentReceipt({ jwks }: StatementKeys, issuer: string, receipt: string): boolean {
  const { kid } = decodeProtectedHeader(receipt)
  return decodeJwt(receipt).iss === issuer && jwks.keys.some((key) => key.kid === kid)
}
