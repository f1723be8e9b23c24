import { challengeOf, type DecisionStatement, placesOf, readStatement } from '../../proof/decision.ts'
import { hashesOf, type Salted } from '../../proof/line.ts'
import type { components } from './schema.ts'

type Schemas = components['schemas']
export type Prepared = Schemas['PreparedDecisions']

/** A decision as the person was shown it. A member that is left out was not shown. */
export interface ShownDecision {
  id: string
  version: number
  customer?: string
  total?: number
  /** The reason; null for none. */
  reason?: string | null
  /** SHA-256 of each document, in hexadecimal, or how many there are. */
  documents?: readonly string[] | number
}

/** The purpose that the touch must have. */
export interface Meant {
  /** The address of the service. */
  issuer: string
  action: DecisionStatement['action']
  byId: number
  orders: readonly ShownDecision[]
}

/**
 * Asks for one touch that signs these decisions. Returns the header `Decision-Signature` of each, by the id
 * of its order, for `signature` of `ChangeOptions`. Throws an Error without asking if a statement says
 * anything else than what was meant, or the challenge is not that of the statements.
 */
export async function signDecisions(
  { statements, clear, options }: Prepared,
  { issuer, action, byId, orders }: Meant,
  touch: (options: Prepared['options']) => Promise<Schemas['PasskeySignInCommand']['credential']>,
): Promise<Map<string, string>> {
  const isMeant = (text: string, index: number) => {
    const { order, hashes, ...said } = readStatement(text)
    const values: Record<string, Salted> = clear[index] ?? {}
    const { customer: named, text: written } = values
    const {
      id,
      version,
      total = Number(order.total),
      customer = named?.value,
      reason,
      documents = said.documents,
    } = orders[index] ?? {}
    return (
      said.iss === issuer &&
      said.action === action &&
      said.byId === byId &&
      order.id === id &&
      order.version === version &&
      named?.value === customer &&
      (reason === undefined || (written?.value ?? null) === reason) &&
      isSame(hashesOf(values), hashes) &&
      (typeof documents === 'number'
        ? said.documents.length === documents
        : String([...documents].sort()) === String(said.documents)) &&
      Number(order.total) === total
    )
  }
  const isAsMeant = statements.length === orders.length && statements.every(isMeant)
  if (!isAsMeant || options.challenge !== (await challengeOf(statements))) {
    throw new Error('The service asks for a signature of something else.')
  }
  const { id, response } = await touch(options)
  const { clientDataJSON, authenticatorData, signature, userHandle = null } = response
  const credential = { id, response: { clientDataJSON, authenticatorData, signature, userHandle } }
  const places = await placesOf(statements)
  const entries = places.map((place, at): [string, string] => {
    const salts = Object.fromEntries(Object.entries(clear[at] ?? {}).map(([name, { salt }]) => [name, salt]))
    const presented = { statement: statements[at], salts, ...place, credential }
    return [orders[at]?.id ?? '', toBase64url(JSON.stringify(presented))]
  })
  return new Map(entries)
}

function isSame(one: Record<string, string>, other: Record<string, string>): boolean {
  const names = Object.keys({ ...one, ...other })
  return names.every((name) => one[name] === other[name])
}

function toBase64url(text: string): string {
  const bytes = String.fromCharCode(...new TextEncoder().encode(text))
  return btoa(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
