import { hash } from 'node:crypto'

/**
 * Hex SHA-256 of the bytes that `hex` spells, followed by a text in UTF-8. It is imported as `#sha256`: where
 * there is no node:crypto, web/verify/sha256.ts takes its place.
 */
export function sha256(hex: string, text = ''): string {
  const bytes = Buffer.from(hex, 'hex')
  return hash('sha256', text === '' ? bytes : Buffer.concat([bytes, Buffer.from(text)]))
}
