/** What a receipt says. The total is a decimal string, as in the log. */
export interface Statement {
  iss: string
  /** Seconds since 1970. */
  iat: number
  order: {
    id: string
    version: number
    customer: string
    total: `${number}`
    createdBy: string | null
    createdAtUtc: string
  }
  approvals: { by: string; byId: number | null; atUtc: string }[]
  event: { sequence: number; hash: string }
  checkpoint: { size: number; hash: string }
}

/** The content of a JWS (RFC 7515) from the service. Its signature is not checked here. */
export function readStatement(jws: string): { statement: Statement; keyId: string; algorithm: string } {
  const [header = ''] = jws.split('.')
  const { kid, alg } = parse(header) as { kid: string; alg: string }
  return { statement: claimsOf(jws) as Statement, keyId: kid, algorithm: alg }
}

export function claimsOf(jws: string): unknown {
  const [, payload = ''] = jws.split('.')
  return parse(payload)
}

function parse(part: string): unknown {
  const bytes = Uint8Array.fromBase64(part, { alphabet: 'base64url' })
  return JSON.parse(new TextDecoder().decode(bytes))
}
