import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { calculateJwkThumbprint, exportJWK } from 'jose'
import { ConfigurationError } from '../../../config.ts'

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

const minimumModulusBits = 2048

/**
 * Loads the keys from PEM files, in order, or makes one for this run if no file is given. Throws
 * `ConfigurationError` that names every file that is missing, not PEM, not private, not RSA, or too short.
 */
export async function loadSigningKeys(files: string[], algorithm: 'RS256' | 'PS256'): Promise<SigningKeys> {
  return signingKeysOf(files.length > 0 ? readPrivateKeys(files) : [await generatePrivateKey()], algorithm)
}

/** The first key signs, all verify. */
export async function signingKeysOf(
  privateKeys: KeyObject[],
  algorithm: 'RS256' | 'PS256',
): Promise<SigningKeys> {
  const published = await Promise.all(privateKeys.map((key) => toPublicJwk(key, algorithm)))
  const [privateKey] = privateKeys
  const kid = published[0]?.kid
  if (privateKey === undefined || kid === undefined) throw new Error('no signing key')
  const distinct = [...new Map(published.map((jwk) => [jwk.kid, jwk])).values()]
  return { algorithm, kid, privateKey, jwks: { keys: distinct } }
}

async function generatePrivateKey(): Promise<KeyObject> {
  const pair = await promisify(generateKeyPair)('rsa', { modulusLength: minimumModulusBits })
  return pair.privateKey
}

function readPrivateKeys(files: string[]): KeyObject[] {
  const faults: string[] = []
  const keys = files.flatMap((file, index) => {
    try {
      const key = parsePrivateKey(readFileSync(file, 'utf8'))
      if (typeof key !== 'string') return [key]
      faults.push(`SIGNING_KEY_FILES: ${file} ${key}`)
    } catch (error) {
      // A value that names no file may be a key itself, so the message does not repeat it.
      const which = files.length === 1 ? 'the file' : `file ${index + 1} of ${files.length}`
      faults.push(`SIGNING_KEY_FILES: ${which} cannot be read (${(error as NodeJS.ErrnoException).code})`)
    }
    return []
  })
  if (faults.length > 0) throw new ConfigurationError(faults)
  return keys
}

/** Returns the key, or what is wrong with it. */
function parsePrivateKey(pem: string): KeyObject | string {
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch {
    if (pem.includes('PUBLIC KEY')) return 'is a public key; the private key is needed'
    if (pem.includes('ENCRYPTED')) return 'is encrypted; an unencrypted PEM file is needed'
    return 'is not a private key in PEM form'
  }
  if (key.asymmetricKeyType !== 'rsa') return `is not an RSA key but ${key.asymmetricKeyType}`
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0
  if (bits < minimumModulusBits) return `has ${bits} bits; at least ${minimumModulusBits} are needed`
  return key
}

/** `kid` is the RFC 7638 thumbprint, so every instance publishes the same one. */
async function toPublicJwk(privateKey: KeyObject, algorithm: string): Promise<PublicKey> {
  const { kty, n, e } = await exportJWK(createPublicKey(privateKey))
  if (kty === undefined || n === undefined || e === undefined) throw new Error('not an RSA key')
  const kid = await calculateJwkThumbprint({ kty, n, e })
  return { kty, use: 'sig', alg: algorithm, kid, n, e }
}
