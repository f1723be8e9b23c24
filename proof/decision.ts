import {
  type Bytes,
  bytesOf,
  concat,
  fromBase64,
  fromBase64url,
  join,
  leafOf,
  sha256,
  toBase64,
  toBase64url,
} from './bytes.ts'
import { pathOf, rootFrom, rootOf } from './tree.ts'

/** What a person signs with a passkey: exactly what the decision does to the order. */
export interface DecisionStatement {
  typ: 'countersign-decision'
  /** The address of the service. */
  iss: string
  action: 'approve' | 'reject'
  /** The order before the decision. The total is a decimal string, as in the log. */
  order: { id: string; version: number; total: string }
  /** SHA-256 of each document of the order, hex, ascending. */
  documents: string[]
  byId: number
  /** The absent person in whose place it is decided. */
  forId: number | null
  /** Those of the line to come: customer, names and reason, so that a signature outlives an erasure. */
  hashes: Record<string, string>
  /** Only the service can make it, so nobody prepares statements ahead. */
  nonce: string
  until: string
}

/** `AuthenticationResponseJSON` of WebAuthn Level 3, as far as it is kept. */
export interface Assertion {
  id: string
  response: {
    clientDataJSON: string
    authenticatorData: string
    signature: string
  }
}

/** A signed decision as the log and a receipt keep it: one statement of those under one touch. */
export interface KeptSignature {
  /** The text of the statement, to the byte. */
  statement: string
  /** Its place among the statements of the touch. */
  index: number
  size: number
  /** The neighbours of its way to the root (RFC 9162 §2.1.3), base64. */
  path: string[]
  credential: Assertion
}

/** The public key of a passkey as a JWK (RFC 7517): P-256, Ed25519 or RSA. */
export interface PublicKey {
  kty: string
  crv?: string
  x?: string
  y?: string
  n?: string
  e?: string
}

/** The one text of a statement: canonical JSON (RFC 8785). */
export function spellStatement(statement: DecisionStatement): string {
  const { action, byId, documents, forId, hashes, iss, nonce, order, typ, until } = statement
  const { id, total, version } = order
  const sorted = Object.fromEntries(Object.entries(hashes).sort())
  const decided = { id, total, version }
  // biome-ignore format: one member a line would hide that they are sorted
  return JSON.stringify({ action, byId, documents, forId, hashes: sorted, iss, nonce, order: decided, typ, until })
}

/** Throws an Error unless the text is a statement in its one spelling. */
export function readStatement(text: string): DecisionStatement {
  let statement: DecisionStatement | undefined
  try {
    statement = JSON.parse(text)
    if (statement?.typ === 'countersign-decision' && spellStatement(statement) === text) return statement
  } catch {
    // It is something else.
  }
  throw new Error('this is not a statement of a decision')
}

/**
 * The signed statement, if the key signed it at the service that the statement names. This check is made from
 * the texts of the standards (WebAuthn Level 3 §7.2, RFC 9162 §2.1.3.2), apart from the library by which the
 * service accepts a signature. Throws an Error that says what does not hold.
 */
export async function verifyDecision(
  signature: KeptSignature,
  publicKey: PublicKey,
): Promise<DecisionStatement> {
  const statement = readStatement(signature.statement)
  const { hostname, origin } = new URL(statement.iss)
  const challenge = await challengeFrom(signature)
  const { clientDataJSON, authenticatorData, signature: signed } = signature.credential.response
  const [clientData, data] = [fromBase64url(clientDataJSON), fromBase64url(authenticatorData)]
  const client = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(clientData))
  if (client.type !== 'webauthn.get') throw new Error('the touch was for something else')
  if (client.challenge !== challenge) throw new Error('another statement was signed')
  if (client.origin !== origin || client.crossOrigin === true) throw new Error('another page asked for it')
  const party = await sha256(bytesOf(hostname))
  if (data.length < 37 || !party.every((byte, at) => byte === data[at])) {
    throw new Error('the passkey belongs to another host')
  }
  const flags = data[32] ?? 0
  // Bit 0: somebody touched it. Bit 2: it knows who.
  if ((flags & 0b101) !== 0b101) throw new Error('the authenticator did not check who touched it')
  // Bit 4, "is synced", needs bit 3, "may be synced". Bits 6 and 7 say that more than 37 bytes follow.
  if ((flags & 0b11000) === 0b10000 || flags >= 0b1000000 !== data.length > 37) {
    throw new Error('the authenticator contradicts itself')
  }
  const content = concat(data, await sha256(clientData))
  if (!(await isSignedBy(publicKey, fromBase64url(signed), content))) {
    throw new Error('the signature is not that of this key')
  }
  return statement
}

/** Of EdDSA, ES256 or RS256, by the kind of the key. A key has one spelling. */
async function isSignedBy(key: PublicKey, signature: Bytes, signed: Bytes): Promise<boolean> {
  for (const part of [key.x, key.y, key.n, key.e]) if (part !== undefined) fromBase64url(part)
  const { subtle } = crypto
  if (key.kty === 'EC') {
    const scheme = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
    const imported = await subtle.importKey('jwk', key, scheme, false, ['verify'])
    return subtle.verify(scheme, imported, rawSignature(signature), signed)
  }
  const scheme = key.kty === 'OKP' ? { name: 'Ed25519' } : { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
  const imported = await subtle.importKey('jwk', key, scheme, false, ['verify'])
  return subtle.verify(scheme, imported, signature, signed)
}

/** From DER, a SEQUENCE of two INTEGERs, to two times 32 bytes. Throws an Error for any other form. */
function rawSignature(der: Bytes): Bytes {
  const raw = new Uint8Array(64)
  let at = 2
  for (const end of [32, 64]) {
    const length = der[at + 1] ?? 0
    const number = der.subarray(at + 2, at + 2 + length)
    const digits = number[0] === 0 ? number.subarray(1) : number
    const isMinimal = number[0] !== 0 || (digits[0] ?? 0) >= 0x80
    if (der[at] !== 2 || length === 0 || (number[0] ?? 0) >= 0x80 || digits.length > 32 || !isMinimal) {
      throw new Error('the signature is malformed')
    }
    raw.set(digits, end - digits.length)
    at += 2 + length
  }
  if (der[0] !== 0x30 || der[1] !== der.length - 2 || at !== der.length) {
    throw new Error('the signature is malformed')
  }
  return raw
}

/**
 * The challenge that the statement and its path lead to. Throws an Error if no tree of this size has such a
 * path at this place.
 */
export async function challengeFrom(signature: Omit<KeptSignature, 'credential'>): Promise<string> {
  const { statement, path, ...place } = signature
  // Decoded before any promise: one that rejects and is never awaited would end the process.
  const beside = path.map(fromBase64).map((hash) => Promise.resolve(hash))
  const root = rootFrom(leafOf(bytesOf(statement)), { ...place, path: beside }, join)
  if (root === undefined) throw new Error('the path does not fit the place of the statement')
  return toBase64url(await root)
}

/** The challenge of one touch for these statements. */
export async function challengeOf(statements: readonly string[]): Promise<string> {
  return toBase64url(await rootOf(statements.map(bytesOf).map(leafOf), join))
}

/** The proof that each statement needs to be checked alone, in their order. */
export async function placesOf(
  statements: readonly string[],
): Promise<Pick<KeptSignature, 'index' | 'size' | 'path'>[]> {
  const leaves = statements.map(bytesOf).map(leafOf)
  return Promise.all(
    leaves.map(async (_, index) => {
      const path = await Promise.all(pathOf(leaves, index, join))
      return { index, size: leaves.length, path: path.map(toBase64) }
    }),
  )
}
