import { sha256 as hashOf } from '@noble/hashes/sha2.js'
import { bytesOfHex, toHex } from './bytes.ts'

/**
 * Hex SHA-256 of the bytes that `hex` spells, followed by a text in UTF-8. Web Crypto hashes only
 * asynchronously, which takes far longer for a log of a million lines (ADR 53).
 */
export function sha256(hex: string, text = ''): string {
  const before = bytesOfHex(hex)
  if (text === '') return toHex(hashOf(before))
  const bytes = new Uint8Array(before.length + 3 * text.length)
  bytes.set(before)
  const { written } = new TextEncoder().encodeInto(text, bytes.subarray(before.length))
  return toHex(hashOf(bytes.subarray(0, before.length + written)))
}
