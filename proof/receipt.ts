import { bytesOf, fromBase64url } from './bytes.ts'
import type { LogLine } from './line.ts'
import { lineFrom } from './log.ts'

/** The content of a receipt: it says nothing that no line says. `readOrder` says what the lines mean. */
export interface Receipt {
  /** The address of the service: scheme, host and port, and nothing else. */
  iss: string
  /** Seconds since 1970. */
  iat: number
  /** By sequence. */
  lines: PlacedLine[]
  /** A signed note: how far the log went, and its root. */
  checkpoint: string
}

export interface PlacedLine {
  line: LogLine
  /** The hashes in base64 that lead from the line to the root of the checkpoint (RFC 9162 §2.1.3). */
  proof: string[]
}

/** The answer of /.well-known/jwks.json (RFC 7517). */
export interface SigningKeys {
  keys: { kid: string; alg: string; kty: string; use: string; n: string; e: string }[]
}

const type = 'countersign-receipt+jwt'
const claims = ['checkpoint', 'iat', 'iss', 'lines'] as const

/**
 * Reads a JWS (RFC 7515). Follows no path and checks no signature: see `judgeReceipt`. Throws an Error unless
 * it is a receipt whose lines a log can have.
 */
export function readReceipt(jws: string): Receipt {
  const { typ, content } = partsOf(jws)
  if (typ !== type) throw new Error('this is not a receipt of Countersign')
  if (String(Object.keys(content).sort()) !== String(claims)) {
    throw new Error(`a receipt must have ${claims.join(', ')} and nothing else`)
  }
  const { iss, iat, lines, checkpoint } = content
  const isOrigin = /^https?:/.test(iss) && URL.canParse(iss) && new URL(iss).origin === iss
  if (!isOrigin || !Number.isSafeInteger(iat) || typeof checkpoint !== 'string') {
    throw new Error('a claim of the receipt is not what it has to be')
  }
  if (!Array.isArray(lines)) throw new Error('the lines of a receipt must be a list')
  return { iss, iat, lines: lines.map(placedLine), checkpoint }
}

function placedLine(value: { line?: unknown; proof?: unknown } | null): PlacedLine {
  const { line, proof, ...more } = value ?? {}
  const isList = Array.isArray(proof) && proof.every((hash) => typeof hash === 'string')
  if (!isList || Object.keys(more).length > 0) throw new Error('a line of a receipt must have its proof')
  return { line: lineFrom(line), proof }
}

const schemes = {
  RS256: { name: 'RSASSA-PKCS1-v1_5' },
  PS256: { name: 'RSA-PSS', saltLength: 32 },
}
type Scheme = keyof typeof schemes

/**
 * Whether one of the keys of a service signed the JWS, as software does that knows JWTs only; undefined if
 * none has the name that it gives. It adds nothing to what the log proves. Throws an Error if the key that it
 * names did not sign it.
 */
export async function verifyJws(jws: string, { keys }: SigningKeys): Promise<true | undefined> {
  const { kid, alg, signature } = partsOf(jws)
  const jwk = keys.find((key) => key?.kid === kid)
  if (jwk === undefined) return undefined
  // The key decides the algorithm, never the receipt alone (RFC 8725 §3.1).
  if (jwk.alg !== alg || !Object.hasOwn(schemes, alg)) throw new Error(`the key is not for ${alg}`)
  const scheme = schemes[alg as Scheme]
  const key = await crypto.subtle
    .importKey('jwk', jwk, { ...scheme, hash: 'SHA-256' }, false, ['verify'])
    .catch(() => undefined)
  const signed = bytesOf(jws.slice(0, jws.lastIndexOf('.')))
  if (key === undefined) throw new Error(`the key ${kid} cannot be used`)
  if (await crypto.subtle.verify(scheme, key, signature, signed)) return true
  throw new Error(`the key ${kid} did not sign it: it was altered`)
}

/** Without the members of a header unless it is a JWS. */
function partsOf(jws: string) {
  try {
    const [header, content, signature, more] = jws.split('.')
    if (signature && !more) {
      const { typ, kid, alg } = jsonIn(header)
      return { typ, kid, alg, content: Object(jsonIn(content)), signature: fromBase64url(signature) }
    }
  } catch {
    // It is no JWS.
  }
  return { content: {}, signature: new Uint8Array() } as never
}

// biome-ignore lint/suspicious/noExplicitAny: may be forged
const jsonIn = (base64url = ''): any =>
  JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(fromBase64url(base64url)))

/** Around the receipt in a saved certificate, which is a page. */
export const startOfReceipt = '<template id="receipt">'
export const endOfReceipt = '</template>'

/** The receipt in a text: the text itself, the answer of the service, or a saved certificate. */
export function receiptIn(text: string): string | undefined {
  const [, kept = text] = text.split(startOfReceipt)
  const [jws = ''] = text.startsWith('{') ? [memberIn(text)] : kept.split(endOfReceipt)
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(jws.trim()) ? jws.trim() : undefined
}

function memberIn(json: string): string {
  try {
    return String(JSON.parse(json).receipt)
  } catch {
    return ''
  }
}
