import { hash, randomBytes, randomFillSync } from 'node:crypto'

/** UUIDv7 (RFC 9562 §5.7) of the instant, with 74 random bits; lower case. */
export function newOrderId(nowMilliseconds: number): string {
  const bytes = randomFillSync(Buffer.allocUnsafe(16))
  bytes.writeUIntBE(nowMilliseconds, 0, 6)
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** 256 random bits as 43 characters of base64url: session ids, refresh tokens, client secrets, bindings. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** The form of `newSecret`; anything else never came from here. */
export const secretPattern = /^[A-Za-z0-9_-]{43}$/

const opaqueIdBytes = 16
const pool = Buffer.alloc(256 * opaqueIdBytes)
let poolOffset = pool.length

/**
 * 128 random bits, for ids that are not secret: sessions, families, requests, token ids, nonces. Every request needs
 * one, so the bytes are fetched for many at a time; each is used once.
 */
export function newOpaqueId(): string {
  if (poolOffset === pool.length) {
    randomFillSync(pool)
    poolOffset = 0
  }
  const start = poolOffset
  poolOffset += opaqueIdBytes
  return pool.toString('base64url', start, poolOffset)
}

/** SHA-256 as base64url: what is stored of a secret with 256 random bits (no salt or stretching is needed then). */
export function sha256(data: string | Buffer): string {
  return hash('sha256', data, 'base64url')
}
