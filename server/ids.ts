import { createHmac, hash, hkdfSync, randomBytes, randomFillSync } from 'node:crypto'

const idBytes = 16
const pool = Buffer.alloc(256 * idBytes)
let poolOffset = pool.length

/**
 * The position in `pool` of 16 unused random bytes, for an id or a salt. Every request needs some,
 * so the bytes for 256 ids are fetched together (0.1 µs for each instead of 3.5).
 */
function nextInPool(): number {
  if (poolOffset === pool.length) {
    randomFillSync(pool)
    poolOffset = 0
  }
  const start = poolOffset
  poolOffset += idBytes
  return start
}

/** 128 random bits, for ids that are not secret: sessions, families, requests, token ids, nonces. */
export function newOpaqueId(): string {
  const start = nextInPool()
  return pool.toString('base64url', start, start + idBytes)
}

/** The bits after an id's instant, which count the ids of that instant. */
const countBits = 18

let lastInstant = -1
let count = 0

/**
 * UUIDv7 of the instant, lower case. Within a millisecond ids count up from a random number (RFC 9562 §6.2,
 * method 1), so the ids of a process sort in the order in which it made them. 56 further bits are random.
 */
export function newOrderedId(nowMilliseconds: number): string {
  const start = nextInPool()
  const bytes = pool.subarray(start, start + idBytes)
  // The first count is in the lower half of the range, to leave room to count up.
  count =
    nowMilliseconds === lastInstant
      ? (count + 1) % 2 ** countBits
      : bytes.readUIntBE(0, 3) % 2 ** (countBits - 1)
  lastInstant = nowMilliseconds
  bytes.writeUIntBE(nowMilliseconds, 0, 6)
  bytes.writeUInt16BE(0x7000 | (count >> 6), 6)
  bytes[8] = 0x80 | (count & 0x3f)
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The stored form of a UUID. Undefined if the text is not a UUID. */
export function parseUuid(text: string): string | undefined {
  const id = text.toLowerCase()
  return uuidPattern.test(id) ? id : undefined
}

/** The form of an id from `newOpaqueId`. */
export const opaqueIdPattern = /^[A-Za-z0-9_-]{22}$/

/** The instant of a UUIDv7, in milliseconds since 1970. */
export function instantOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

/** 128 random bits, hexadecimal. */
export function newSalt(): string {
  const start = nextInPool()
  return pool.toString('hex', start, start + idBytes)
}

/** 256 random bits as 43 characters of base64url: session ids, refresh tokens, client secrets, bindings. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** The form of a secret from `newSecret`. A text of any other form is not a secret of this service. */
export const secretPattern = /^[A-Za-z0-9_-]{43}$/

/**
 * SHA-256 as base64url. This is how secrets of 256 random bits are stored: they need no salt and no
 * stretching.
 */
export function sha256(data: string | Buffer): string {
  return hash('sha256', data, 'base64url')
}

/**
 * HMAC-SHA256 as base64url, under a key for one purpose that is derived (RFC 5869) from a secret of every
 * instance. Without the secret, nobody can find out what is hashed by guessing it.
 */
export function keyedHash(secret: Buffer, purpose: string): (data: string | Buffer) => string {
  const key = derivedKey(secret, purpose)
  return (data) => createHmac('sha256', key).update(data).digest('base64url')
}

/**
 * As `keyedHash`, by SHA-512/256 of key and text, which nobody can extend (FIPS 180-4). For every request: an
 * HMAC takes a tenth of a create.
 */
export function quickKeyedHash(secret: Buffer, purpose: string): (text: string) => string {
  const key = derivedKey(secret, purpose).toString('hex')
  return (text) => hash('sha512-256', key + text, 'base64url')
}

/** A key of 32 bytes for one purpose, derived (RFC 5869) from a secret of every instance. */
export const derivedKey = (secret: Buffer, purpose: string) =>
  Buffer.from(hkdfSync('sha256', secret, '', `countersign ${purpose}`, 32))
