import type { KeyObject } from 'node:crypto'
import { decodeProtectedHeader } from 'jose/decode/protected_header'
import { SignJWT } from 'jose/jwt/sign'
import { canonicalJson } from '../../../proof/canonical.ts'
import type { LogLine } from '../../../proof/line.ts'
import { type Receipt, readReceipt } from '../../../proof/receipt.ts'

/** The signing key, and its name in the JWKS. */
export interface StatementKeys {
  algorithm: 'RS256' | 'PS256'
  kid: string
  privateKey: KeyObject
  jwks: { keys: { kid: string }[] }
}

/**
 * The token has its own type (RFC 8725 §3.11) and no `exp`, `aud` or `sub`. So no verifier mistakes it for an
 * access token, and it does not expire.
 */
export function signReceipt(
  keys: StatementKeys,
  issuer: string,
  { lines, checkpoint }: Pick<Receipt, 'lines' | 'checkpoint'>,
  nowMilliseconds: number,
): Promise<string> {
  return new SignJWT({ lines, checkpoint })
    .setProtectedHeader({ alg: keys.algorithm, kid: keys.kid, typ: 'countersign-receipt+jwt' })
    .setIssuer(issuer)
    .setIssuedAt(Math.floor(nowMilliseconds / 1000))
    .sign(keys.privateKey)
}

/**
 * A kept receipt, if it has these lines as they are now, names this issuer, and is signed by a published key.
 */
export function currentReceipt(
  { jwks }: StatementKeys,
  issuer: string,
  jws: string,
  now: readonly LogLine[],
): Receipt | undefined {
  try {
    const { kid } = decodeProtectedHeader(jws)
    const receipt = readReceipt(jws)
    const isSame = canonicalJson(receipt.lines.map(({ line }) => line)) === canonicalJson(now)
    const isSigned = jwks.keys.some((key) => key.kid === kid)
    return isSame && isSigned && receipt.iss === issuer ? receipt : undefined
  } catch {
    return undefined
  }
}
