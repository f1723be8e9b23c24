import { sha256 as hashOf } from '@noble/hashes/sha2.js'

/** As in server/audit/sha256.ts. Web Crypto hashes only asynchronously, which takes far longer (ADR 53). */
export function sha256(hex: string, text = ''): string {
  const before = bytesOf(hex)
  const bytes = new Uint8Array(before.length + 3 * text.length)
  bytes.set(before)
  const { written } = new TextEncoder().encodeInto(text, bytes.subarray(before.length))
  return hexOf(hashOf(bytes.subarray(0, before.length + written)))
}

const digits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

const hexOf = (bytes: Uint8Array) => Array.from(bytes, (byte) => digits[byte]).join('')

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, at) =>
    Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16),
  )
}
