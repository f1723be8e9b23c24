import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import type { Bytes } from '../proof/bytes.ts'

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
  if (key.asymmetricKeyType === 'ed25519') return key
  throw new Error(`is not an Ed25519 key but ${key.asymmetricKeyType}`)
}

/** Only its owner may read the file. Throws EEXIST if there is one. */
export function makeKey(file: string): void {
  const { privateKey } = generateKeyPairSync('ed25519')
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { flag: 'wx', mode: 0o600 })
}

const othersMayUse = 0o006

/** Whether accounts other than the owner and the group may use the file. Windows has no such modes. */
export const isOpen = (file: string) =>
  process.platform !== 'win32' && (statSync(file).mode & othersMayUse) !== 0

/** The 32 bytes of the public key (RFC 8032 §5.1.5). */
export function publicKeyOf(privateKey: KeyObject): Bytes {
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  return Uint8Array.from(Buffer.from(x, 'base64url'))
}

export const signBy = (privateKey: KeyObject, message: Uint8Array): Bytes =>
  Uint8Array.from(sign(null, message, privateKey))
