import type { KeyObject } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import type { ReceiptSignature } from '../../client/src/receipt.ts'
import type { LogLine } from './leaf.ts'

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
  /** The line of the event that approved the order. */
  line: LogLine
  /** From the line to the root of the checkpoint, in base64. */
  proof: string[]
  /** A signed note. */
  checkpoint: string
}

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
