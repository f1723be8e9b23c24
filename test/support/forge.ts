import { type KeyObject, sign } from 'node:crypto'

export type Members = Record<string, unknown>

export const encode = (members: unknown) => Buffer.from(JSON.stringify(members)).toString('base64url')
export const decode = (part = ''): Members => JSON.parse(Buffer.from(part, 'base64url').toString())

/** RS256 over a header and a payload as they stand, by node:crypto alone. */
export function signText(header: string, payload: string, key: KeyObject): string {
  const content = [header, payload].map((text) => Buffer.from(text).toString('base64url')).join('.')
  return `${content}.${sign('sha256', Buffer.from(content), key).toString('base64url')}`
}
