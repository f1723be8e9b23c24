import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ConfigurationError } from './config.ts'

export const minimumModulusBits = 2048
const kinds = { rsa: 'an RSA key', ed25519: 'an Ed25519 key' }
type Kind = keyof typeof kinds

/**
 * Reads private keys from PEM files, in order. Throws `ConfigurationError` that names, for the setting or
 * option, every file that is missing, not PEM, not private, of another kind, or too short.
 */
export function readPrivateKeys(setting: string, files: readonly string[], kind: Kind): KeyObject[] {
  const faults: string[] = []
  const keys = files.flatMap((file, index) => {
    try {
      const key = parsePrivateKey(readFileSync(file, 'utf8'), kind)
      if (typeof key !== 'string') return [key]
      faults.push(`${setting}: ${file} ${key}`)
    } catch (error) {
      // A value that names no file may be a key itself, so the message does not repeat it.
      const which = files.length === 1 ? 'the file' : `file ${index + 1} of ${files.length}`
      faults.push(`${setting}: ${which} cannot be read (${(error as NodeJS.ErrnoException).code})`)
    }
    return []
  })
  if (faults.length > 0) throw new ConfigurationError(faults)
  return keys
}

/** Returns the key, or what is wrong with it. */
function parsePrivateKey(pem: string, kind: Kind): KeyObject | string {
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch {
    if (pem.includes('PUBLIC KEY')) return 'is a public key; the private key is needed'
    if (pem.includes('ENCRYPTED')) return 'is encrypted; an unencrypted PEM file is needed'
    return 'is not a private key in PEM form'
  }
  if (key.asymmetricKeyType !== kind) return `is not ${kinds[kind]} but ${key.asymmetricKeyType}`
  const bits = key.asymmetricKeyDetails?.modulusLength ?? minimumModulusBits
  if (bits < minimumModulusBits) return `has ${bits} bits; at least ${minimumModulusBits} are needed`
  return key
}

/** The 32 bytes of the public key (RFC 8032 §5.1.5). */
export function ed25519PublicKey(privateKey: KeyObject): Uint8Array<ArrayBuffer> {
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  return Uint8Array.from(Buffer.from(x, 'base64url'))
}

export function ed25519Sign(privateKey: KeyObject, message: Uint8Array): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(sign(null, message, privateKey))
}
