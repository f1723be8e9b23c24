import type { Join } from './tree.ts'

/** Bytes, their hashes and their one spelling, where there is only Web Crypto: a page, Node, Deno. */
export type Bytes = Uint8Array<ArrayBuffer>

export async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

export const bytesOf = (text: string): Bytes => new TextEncoder().encode(text)

/** The leaf of a tree (RFC 9162 §2.1.1) for an entry. */
export const leafOf = (entry: Bytes) => sha256(concat(Uint8Array.of(0), entry))

/** The node above two (RFC 9162 §2.1.1). */
export const join: Join<Promise<Bytes>> = async (left, right) =>
  sha256(concat(Uint8Array.of(1), await left, await right))

export function concat(...parts: Bytes[]): Bytes {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

export const hexOfByte: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, '0'),
)

export const toHex = (bytes: Uint8Array) => Array.from(bytes, (byte) => hexOfByte[byte]).join('')

export const fromHex = (hex = ''): Bytes =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number(`0x${pair}`))

export function toBase64(bytes: Bytes): string {
  let latin1 = ''
  for (const byte of bytes) latin1 += String.fromCharCode(byte)
  return btoa(latin1)
}

export const toBase64url = (bytes: Bytes) =>
  toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

/** Takes more than the one spelling: the callers compare. */
function bytesIn(base64: string): Bytes {
  try {
    const latin1 = atob(base64)
    const bytes = new Uint8Array(latin1.length)
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = latin1.charCodeAt(at)
    return bytes
  } catch {
    return new Uint8Array()
  }
}

/** Throws an Error unless the text is the one spelling of some bytes. */
export function fromBase64(text: string): Bytes {
  const bytes = bytesIn(text)
  if (toBase64(bytes) !== text) throw new Error('this is not base64')
  return bytes
}

export function fromBase64url(text: string): Bytes {
  const bytes = bytesIn(text.replaceAll('-', '+').replaceAll('_', '/'))
  if (toBase64url(bytes) !== text) throw new Error('this is not base64url')
  return bytes
}
