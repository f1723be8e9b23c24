/** What a person added: something to check, or the keys to check it with. */
export type Given = { name: string } & (
  | { kind: 'receipt'; jws: string }
  | { kind: 'keys'; keys: Key[] }
  | { kind: 'unknown'; reason: string }
)
export type KindOf<Kind extends Given['kind']> = Extract<Given, { kind: Kind }>

/** A public key of the service (RFC 7517). Its members are as they were given. */
export interface Key {
  kty: string
  use: string
  alg: string
  kid: string
  n: string
  e: string
}

/** Far more than any receipt or set of keys has. What is larger is not read. */
const limitBytes = 1_048_576

/** Recognises a file or a text by its content, never by its name. */
export async function recognise(name: string, content: Blob): Promise<Given> {
  const unknown = (reason: string): Given => ({ name, kind: 'unknown', reason })
  if (content.size > limitBytes) return unknown('it is larger than any receipt or set of keys')
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(await content.arrayBuffer()).trim()
  } catch {
    return unknown('it is not a file with text')
  }
  if (isJws(text)) return { name, kind: 'receipt', jws: text }
  const { receipt, keys } = membersOf(text)
  if (isJws(receipt)) return { name, kind: 'receipt', jws: receipt }
  if (Array.isArray(keys)) return { name, kind: 'keys', keys: keys.filter(isObject) as unknown as Key[] }
  return unknown('it is neither a receipt nor a set of keys')
}

const isJws = (value: unknown): value is string =>
  typeof value === 'string' && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(value)

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function membersOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
