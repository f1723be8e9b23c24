import { createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint'
import { exportJWK } from 'jose/key/export'
import { minimumModulusBits, readPrivateKeys } from '../../../private-keys.ts'

/** The keys of one run. The first configured key signs; all of them verify and are published. */
export interface SigningKeys {
  algorithm: 'RS256' | 'PS256'
  kid: string
  privateKey: KeyObject
  /** Public members only (RFC 7517). The service publishes these keys and verifies with them. */
  jwks: { keys: PublicKey[] }
}

interface PublicKey {
  kty: string
  use: string
  alg: string
  kid: string
  n: string
  e: string
}

/**
 * Loads the keys from PEM files, in order, or makes one for this run if no file is given. Throws
 * `ConfigurationError` that names every file that is missing, not PEM, not private, not RSA, or too short.
 */
export async function loadSigningKeys(files: string[], algorithm: 'RS256' | 'PS256'): Promise<SigningKeys> {
  const keys = readPrivateKeys('SIGNING_KEY_FILES', files, 'rsa')
  const [first = await generatePrivateKey(), ...others] = keys
  return signingKeysOf([first, ...others], algorithm)
}

/** The first key signs, all verify. */
export async function signingKeysOf(
  [privateKey, ...others]: [KeyObject, ...KeyObject[]],
  algorithm: 'RS256' | 'PS256',
): Promise<SigningKeys> {
  const own = await toPublicJwk(privateKey, algorithm)
  const published = [own, ...(await Promise.all(others.map((key) => toPublicJwk(key, algorithm))))]
  const distinct = [...new Map(published.map((jwk) => [jwk.kid, jwk])).values()]
  return { algorithm, kid: own.kid, privateKey, jwks: { keys: distinct } }
}

async function generatePrivateKey(): Promise<KeyObject> {
  const pair = await promisify(generateKeyPair)('rsa', { modulusLength: minimumModulusBits })
  return pair.privateKey
}

/** `kid` is the RFC 7638 thumbprint, so every instance publishes the same one. */
async function toPublicJwk(privateKey: KeyObject, algorithm: string): Promise<PublicKey> {
  const { kty, n, e } = (await exportJWK(createPublicKey(privateKey))) as Pick<PublicKey, 'kty' | 'n' | 'e'>
  const kid = await calculateJwkThumbprint({ kty, n, e })
  return { kty, use: 'sig', alg: algorithm, kid, n, e }
}
