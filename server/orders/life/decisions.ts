import { challengeOf } from '../../../proof/decision.ts'
import type { Salted } from '../../../proof/line.ts'
import { namesOf, saltedWith } from '../../audit/audit.ts'
import type { Principal } from '../../caller/principal.ts'
import { permissionDenied } from '../../caller/standing.ts'
import type { Db } from '../../db/tables.ts'
import { requireVersion } from '../../http/preconditions.ts'
import { newSalt } from '../../ids.ts'
import { Problem } from '../../problems/problems.ts'
import { type Asking, rightsOf } from '../conditions.ts'
import { type DecisionName, decimalOf, transitions } from '../order.ts'
import type { OrderParts, RequestOptions } from '../requests.ts'
import { documentHashes } from '../store.ts'
import { type Decision, findDecisions } from './store.ts'

export interface WantedDecisions {
  action: DecisionName
  orders: { id: string; version: number }[]
  reason: string | null
}

/** The statements that a person signs by one touch to decide these orders. */
export interface Decisions {
  statements: string[]
  /** For each statement, the values and salts that its hashes are made of. */
  clear: Record<string, Salted>[]
  options: RequestOptions
}

/**
 * Statements that say what each decision would do now. Nothing is stored. Throws the first problem that a
 * decision would get, with its place as `errors[0].pointer`; `passkey-needed` if the caller has none.
 */
export async function prepareDecisions(
  { db, statements, touches, clock }: OrderParts,
  caller: Principal,
  { action, orders, reason }: WantedDecisions,
): Promise<Decisions> {
  const now = clock()
  const rights = await rightsOf(db.read, action, caller, now)
  if (rights.length === 0) throw permissionDenied(transitions[action].permission)
  const found = await findInEach(db.read, action, orders, rights)
  const documents = await documentHashes(db.read, orders)
  const made = orders.map(({ id, version }, index) => {
    const { decision, asking } = requireDecision(found, { id, version, index })
    const { customer, total } = decision
    const named = namesOf({ by: caller.userName, byName: caller.fullName, for: asking.for })
    const texts = { ...named, customer, ...(reason !== null && { text: reason }) }
    const { clear, hashes } = saltedWith(newSalt(), texts)
    const statement = {
      ...{ iss: touches.issuer(), action, documents: documents.get(id) ?? [] },
      order: { id, version, total: decimalOf(total) },
      ...{ byId: caller.id, forId: asking.for?.id ?? null },
      hashes,
    }
    return { clear, text: statements.make(statement, now) }
  })
  const texts = made.map(({ text }) => text)
  const options = await touches.options(caller.id, await challengeOf(texts))
  if (options === undefined) throw new Problem('passkey-needed')
  return { statements: texts, clear: made.map(({ clear }) => clear), options }
}

interface InRight {
  asking: Asking
  decisions: Map<string, Decision>
}

/** For each right of the caller, in the order to try. */
async function findInEach(
  db: Db,
  action: WantedDecisions['action'],
  orders: WantedDecisions['orders'],
  rights: readonly Asking[],
): Promise<InRight[]> {
  const ids = orders.map(({ id }) => id)
  return Promise.all(
    rights.map(async (asking) => ({ asking, decisions: await findDecisions(db, ids, action, asking) })),
  )
}

/** The decision in the first right that suffices. */
function requireDecision(
  found: readonly InRight[],
  { id, version, index }: { id: string; version: number; index: number },
) {
  const order = found[0]?.decisions.get(id)
  if (order === undefined) throw at(index, new Problem('order-not-found'))
  try {
    requireVersion([version], order.version)
  } catch (error) {
    throw error instanceof Problem ? at(index, error) : error
  }
  for (const { asking, decisions } of found) {
    const decision = decisions.get(id) ?? order
    if (decision.refusal === undefined) return { decision, asking }
  }
  throw at(index, new Problem(order.refusal ?? 'concurrency-conflict'))
}

/** The same problem, with the place of the order in the request. */
function at(index: number, { code, message: detail, members }: Problem): Problem {
  return new Problem(code, { detail, members, errors: [{ pointer: `#/orders/${index}`, code, detail }] })
}
