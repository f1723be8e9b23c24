import assert from 'node:assert/strict'
import { type KeptSignature, placesOf } from '../../proof/decision.ts'
import type { Salted } from '../../proof/line.ts'
import type { Manner, Passkey } from './authenticator.ts'
import type { Answer, Client } from './client.ts'

export interface Wanted {
  action?: 'approve' | 'reject'
  orders: readonly (string | { id: string; version: number })[]
  reason?: string
}

/** Asks for statements. An order that is only an id has its first version. */
export function prepare(caller: Client, { action = 'approve', orders, reason }: Wanted): Promise<Answer> {
  const named = orders.map((order) => (typeof order === 'string' ? { id: order, version: 1 } : order))
  return caller.post('/v1/orders/decisions', { action, orders: named, ...(reason && { reason }) })
}

/** The content of the header `Decision-Signature`. */
export type Presented = KeptSignature & { salts: Record<string, string> }

/** One for each order, by one touch of the passkey. */
export async function sign(
  caller: Client,
  passkey: Passkey,
  wanted: Wanted,
  manner: Manner = {},
): Promise<Presented[]> {
  const answer = await prepare(caller, wanted)
  assert.equal(answer.status, 200, answer.text)
  return touch(passkey, answer.body, manner)
}

/** Answers what POST /v1/orders/decisions gave. */
export async function touch(
  passkey: Passkey,
  // biome-ignore lint/suspicious/noExplicitAny: body of an answer
  { statements, clear, options }: any,
  manner: Manner = {},
): Promise<Presented[]> {
  const { id, response } = passkey.get(options, manner)
  const credential = { id, response }
  const places = await placesOf(statements)
  return places.map((place, index) => {
    const salted: [string, Salted][] = Object.entries(clear[index])
    const salts = Object.fromEntries(salted.map(([name, { salt }]) => [name, salt]))
    return { statement: statements[index], salts, ...place, credential }
  })
}

export const headerOf = (presented: unknown) => ({
  'decision-signature': Buffer.from(JSON.stringify(presented)).toString('base64url'),
})

/** Approves or rejects with the signature, or whatever it is. */
export function decide(
  caller: Client,
  id: string,
  presented: unknown,
  { reason, headers = {} }: { reason?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const all = { ...headerOf(presented), ...headers }
  return reason === undefined
    ? caller.patch(`/v1/orders/${id}/approve`, undefined, all)
    : caller.patch(`/v1/orders/${id}/reject`, { reason }, all)
}
