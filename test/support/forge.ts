import { constants, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import jwt from 'jsonwebtoken'
import { JwksClient } from 'jwks-rsa'
import { publicUrl } from './service.ts'

export type Members = Record<string, unknown>

export const encode = (members: unknown) => Buffer.from(JSON.stringify(members)).toString('base64url')
export const decode = (part = ''): Members => JSON.parse(Buffer.from(part, 'base64url').toString())
export const parts = (token: string) =>
  token.split('.') as [header: string, payload: string, signature: string]
export const makeKey = (modulusLength = 2048) => generateKeyPairSync('rsa', { modulusLength }).privateKey

/**
 * RS256 over a header and a payload, unchecked. It uses node:crypto alone, because the service's own library
 * should not be its witness.
 */
export function signText(header: string, payload: string, key: KeyObject, hash = 'sha256', pss = false) {
  const content = [header, payload].map((text) => Buffer.from(text).toString('base64url')).join('.')
  const padding = pss
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : {}
  return `${content}.${sign(hash, Buffer.from(content), { key, ...padding }).toString('base64url')}`
}

/** A compact JWS. */
export function forge(
  header: Members,
  claims: Members,
  key: KeyObject,
  hash?: string,
  pss?: boolean,
): string {
  return signText(JSON.stringify(header), JSON.stringify(claims), key, hash, pss)
}

/** Verifies with jsonwebtoken, with the key that jwks-rsa fetches. */
export async function verifyElsewhere(
  bearer: string,
  baseUrl: string,
  algorithm: jwt.Algorithm,
): Promise<jwt.Jwt> {
  const keys = new JwksClient({ jwksUri: `${baseUrl}/.well-known/jwks.json` })
  const key = await keys.getSigningKey(String(decode(parts(bearer)[0]).kid))
  const expected = { issuer: publicUrl, audience: publicUrl, complete: true, clockTolerance: 5 } as const
  return jwt.verify(bearer, key.getPublicKey(), { algorithms: [algorithm], ...expected })
}
