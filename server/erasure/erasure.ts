/**
 * Erasure of people and customers: one transaction for each takes their names from every row and from the
 * log, and leaves one event that says where they were. docs/operations.md says what still has them.
 */

import { nameOfErased } from '../../proof/line.ts'
import {
  isNameOf,
  ordersAbout,
  ordersOfLine,
  type Places,
  recordErasure,
  sealForErasure,
  sequencesAbout,
  sequencesOfOrders,
  takeFrom,
} from '../audit/audit.ts'
import { awaitAdministration } from '../auth/accounts/roles/administrators.ts'
import { eraseUser } from '../auth/accounts/users/erase.ts'
import type { Stamp } from '../caller/stamp.ts'
import type { Trx } from '../db/tables.ts'
import { followLines, lockOrders, ordersOfCustomer } from '../orders/names.ts'
import { Problem } from '../problems/problems.ts'

export interface Erased {
  /** The name from now on. */
  name: string
  /** How many values of the log were taken. */
  values: number
  orders: number
}

const count = (places: Places) => Object.values(places).reduce((sum, { length }) => sum + length, 0)

/**
 * Seals what waits, and returns the orders that `find` finds. Locks are taken in the order of other writers,
 * who hold an order when they write its event: orders, log, events. An order that came meanwhile is locked
 * last; if somebody is changing it right then, PostgreSQL finds a deadlock, and one of the two runs again.
 */
async function sealAndLock(trx: Trx, find: () => Promise<readonly string[]>): Promise<string[]> {
  await lockOrders(trx, await find())
  await sealForErasure(trx)
  return lockOrders(trx, await find())
}

/**
 * Erases a person: they are `person-` and their id from then on. Null if they were erased before. Throws
 * `user-not-found`, `last-administrator`, `log-contradicted`.
 */
export async function erasePerson(
  trx: Trx,
  input: { id: number; stamp: Stamp; mayBeLast?: true },
): Promise<Erased | null> {
  const { id, stamp } = input
  if (!(await eraseUser(trx, input))) return null
  const name = nameOfErased(id)
  await sealAndLock(trx, () => ordersAbout(trx, id))
  const { places, orders } = await takeFrom(trx, await sequencesAbout(trx, id), isNameOf(id))
  await followLines(trx, orders)
  await recordErasure(trx, stamp, { subject: name, places })
  return { name, values: count(places), orders: orders.length }
}

/**
 * Erases a customer, however the name is spelled in upper and lower case: its orders say `customer-` and the
 * number of the oldest. Throws `customer-not-found`, `log-contradicted`.
 */
export async function eraseCustomer(
  trx: Trx,
  { customer, stamp }: { customer: string; stamp: Stamp },
): Promise<Erased> {
  await awaitAdministration(trx)
  const find = () => ordersOfCustomer(trx, customer)
  await sealAndLock(trx, async () => (await find()).map(({ id }) => id))
  const orders = await find()
  const [oldest] = orders
  if (oldest === undefined) throw new Problem('customer-not-found')
  const name = `customer-${oldest.number}`
  return eraseCustomerOf(trx, { name, orders: orders.map(({ id }) => id), stamp })
}

/** The same by the ids of orders, for a database that lost the erasure. */
export async function eraseCustomerOf(
  trx: Trx,
  { name, orders, stamp }: { name: string; orders: readonly string[]; stamp: Stamp },
): Promise<Erased> {
  const ids = await sealAndLock(trx, async () => orders)
  const sequences = await sequencesOfOrders(trx, ids)
  const { places } = await takeFrom(trx, sequences, (_, member) => member === 'customer')
  const erasedBefore = new Set((await ordersOfCustomer(trx, name)).map(({ id }) => id))
  if (count(places) === 0 && ids.every((id) => erasedBefore.has(id))) return { name, values: 0, orders: 0 }
  await followLines(trx, ids, name)
  await recordErasure(trx, stamp, { subject: name, places, orders: ids })
  return { name, values: count(places), orders: ids.length }
}

/** Erases a name or a text of one line. Throws `value-not-found`, `log-contradicted`. */
export async function eraseFromLog(
  trx: Trx,
  { sequence, name, stamp }: { sequence: number; name: string; stamp: Stamp },
): Promise<void> {
  await awaitAdministration(trx)
  await sealAndLock(trx, () => ordersOfLine(trx, sequence))
  const { places, orders } = await takeFrom(trx, [sequence], (_, member) => member === name)
  if (count(places) === 0) {
    throw new Problem('value-not-found', { detail: `Event ${sequence} has no ${name}, or it was erased.` })
  }
  await followLines(trx, orders)
  await recordErasure(trx, stamp, { subject: String(sequence), places })
}
