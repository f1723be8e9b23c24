import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import type { Bytes } from '../proof/bytes.ts'
import { type VerifierKey, verifierKey } from '../proof/note.ts'

/** Throws an Error that says what is wrong with the file. */
export function readKey(file: string): KeyObject {
  let pem: string
  try {
    pem = readFileSync(file, 'utf8')
  } catch (cause) {
    throw new Error(`cannot be read (${(cause as NodeJS.ErrnoException).code})`, { cause })
  }
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch (cause) {
    throw new Error('is not an unencrypted private key in PEM form', { cause })
  }
  if (String(key.asymmetricKeyType) in typeOf) return key
  throw new Error(`is not an Ed25519 or ML-DSA-44 key but ${key.asymmetricKeyType}`)
}

/** By the name that node:crypto has for the kind of a key: the type of its cosignatures. */
const typeOf: Record<string, VerifierKey['type']> = { ed25519: 'cosignature/v1', 'ml-dsa-44': 'subtree/v1' }

export const cosignerKey = (name: string, privateKey: KeyObject): Promise<VerifierKey> =>
  verifierKey(name, typeOf[String(privateKey.asymmetricKeyType)] ?? 'cosignature/v1', publicKeyOf(privateKey))

/** Only its owner may read the file. Throws EEXIST if there is one. */
export function makeKey(file: string): void {
  const { privateKey } = generateKeyPairSync('ed25519')
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { flag: 'wx', mode: 0o600 })
}

const othersMayUse = 0o006

/** Whether accounts other than the owner and the group may use the file. Windows has no such modes. */
export const isOpen = (file: string) =>
  process.platform !== 'win32' && (statSync(file).mode & othersMayUse) !== 0

/** The bytes of the public key (RFC 8032 §5.1.5, RFC 9964 §3). */
export function publicKeyOf(privateKey: KeyObject): Bytes {
  const { x, pub = x } = createPublicKey(privateKey).export({ format: 'jwk' }) as Record<string, string>
  return Uint8Array.from(Buffer.from(pub ?? '', 'base64url'))
}

export const signBy = (privateKey: KeyObject, message: Uint8Array): Bytes =>
  Uint8Array.from(sign(null, message, privateKey))
