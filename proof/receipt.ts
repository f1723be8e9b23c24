import { bytesOf, concat, fromBase64url, fromHex, sha256, toHex } from './bytes.ts'
import {
  type DecisionStatement,
  type KeptSignature,
  type PublicKey,
  spellStatement,
  verifyDecision,
} from './decision.ts'
import type { LogLine } from './line.ts'

/** The content of a receipt. The total is a decimal string, as in the log. */
export interface Statement {
  iss: string
  /** Seconds since 1970. */
  iat: number
  /** The name of the organisation that runs the service, if it is set. */
  organisation: string | null
  order: {
    id: string
    /** The short number. */
    number: number
    version: number
    customer: string
    total: `${number}`
    createdBy: string | null
    /** Null if the log does not say. */
    createdById: number | null
    createdAtUtc: string
  }
  approvals: {
    by: string
    byId: number | null
    atUtc: string
    /** The absent person in whose place it was given. */
    for: string | null
    forId: number | null
    /** That of the approver, if they signed. */
    signature: ReceiptSignature | null
  }[]
  /** The line of the log that says that the order was approved. */
  line: LogLine
  /** The hashes in base64 that lead from the line to the root of the checkpoint (RFC 9162 §2.1.3). */
  proof: string[]
  /** A signed note: how far the log went, and its root. */
  checkpoint: string
}

/** A signed approval, and the passkey as the log has it. */
export interface ReceiptSignature extends KeptSignature {
  /** By name: the salts of the customer and the names in the `hashes` of the statement. */
  salts: Record<string, string>
  passkey: {
    name: string
    publicKey: PublicKey
    /** When it was added, and the line of the log that says so. */
    addedAtUtc: string
    sequence: number | null
    /** What its owner had last given: another passkey, or a password and who set it; null means the owner. */
    restedOn: { passkey: string } | { passwordSetBy: string | null }
  }
}

/** The answer of /.well-known/jwks.json (RFC 7517). */
export interface SigningKeys {
  keys: { kid: string; alg: string; kty: string; use: string; n: string; e: string }[]
}

/** A receipt as it is read. `verifyReceipt` checks its signature. */
export interface ReadReceipt {
  statement: Statement
  keyId: string
  algorithm: string
}

/** The claims of a JWS (RFC 7515). Its signature is not checked here. */
export const claimsOf = (jws: string): unknown => jsonIn(jws.split('.')[1])

export function readReceipt(jws: string): ReadReceipt {
  const { kid, alg } = jsonIn(jws.split('.')[0])
  return { statement: claimsOf(jws) as Statement, keyId: kid, algorithm: alg }
}

const schemes = {
  RS256: { name: 'RSASSA-PKCS1-v1_5' },
  PS256: { name: 'RSA-PSS', saltLength: 32 },
}
type Scheme = keyof typeof schemes

/**
 * The content of the receipt, if a key of the service signed it. `keys` are those of /.well-known/jwks.json,
 * which may have been fetched long ago. Throws an Error that says what is wrong. It needs no service.
 */
export async function verifyReceipt(jws: string, { keys }: SigningKeys, issuer: string): Promise<Statement> {
  const { typ, kid, alg, signature } = partsOf(jws)
  if (typ !== 'countersign-receipt+jwt') throw new Error('this is not a receipt of Countersign')
  const jwk = keys.find((key) => key.kid === kid)
  if (!jwk) throw new Error(`none of the keys is ${kid}, which signed the receipt`)
  // The key decides the algorithm, never the receipt alone (RFC 8725 §3.1).
  if (jwk.alg !== alg || !Object.hasOwn(schemes, alg)) throw new Error(`the key is not for ${alg}`)
  const scheme = schemes[alg as Scheme]
  const key = await crypto.subtle.importKey('jwk', jwk, { ...scheme, hash: 'SHA-256' }, false, ['verify'])
  const signed = bytesOf(jws.slice(0, jws.lastIndexOf('.')))
  if (!(await crypto.subtle.verify(scheme, key, signature, signed)))
    throw new Error('the receipt was altered: its signature does not match')
  const statement = claimsOf(jws) as Statement
  if (statement.iss !== issuer) throw new Error(`the receipt is from ${statement.iss}`)
  for (const approval of statement.approvals) await verifyApproval(statement, approval)
  return statement
}

/** An approver's own signature, if there is one, must be over exactly this approval. */
async function verifyApproval(
  { iss, order: { id, customer, total } }: Statement,
  { by, byId, for: absent, forId, signature }: Statement['approvals'][number],
): Promise<void> {
  if (!signature) return
  const fault = new Error(`the signature of ${by} does not match`)
  const signed = await verifyDecision(signature, signature.passkey.publicKey).catch((cause) => {
    throw Object.assign(fault, { cause })
  })
  const hashes: Record<string, string> = {}
  for (const [name, value] of Object.entries({ by, for: absent, customer })) {
    if (value) hashes[name] = toHex(await sha256(concat(fromHex(signature.salts[name]), bytesOf(value))))
  }
  const decided = { iss, action: 'approve', byId, forId, order: { ...signed.order, id, total }, hashes }
  if (spellStatement({ ...signed, ...decided } as DecisionStatement) !== signature.statement) throw fault
}

/** Without the members of a header unless it is a JWS. */
function partsOf(jws: string) {
  const [header, , signature, more] = jws.split('.')
  try {
    if (signature && !more) return { ...jsonIn(header), signature: fromBase64url(signature) }
  } catch {
    // It is no JWS.
  }
  return {}
}

// biome-ignore lint/suspicious/noExplicitAny: may be forged
const jsonIn = (base64url = ''): any => JSON.parse(new TextDecoder().decode(fromBase64url(base64url)))
