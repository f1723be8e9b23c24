import { formatInstant } from '../clock.ts'
import { type ColumnKind, type ColumnName, columnOf } from './order.ts'

/** A value as it is sent; null stays null. */
const sent: Record<ColumnKind, (value: never) => unknown> = {
  id: (id: string) => id,
  text: (text: string) => text,
  total: (totalE4: number) => totalE4 / 10_000,
  status: (status: number) => status,
  number: (number: number) => number,
  count: (count: number) => count,
  names: (names: string) => names,
  flag: Boolean,
  instant: formatInstant,
}

/** The fields of an order as they are sent, in the order of `names`. */
export function toResponse<Name extends ColumnName>(names: readonly Name[], order: Record<Name, unknown>) {
  const response: Partial<Record<Name, unknown>> = {}
  for (const name of names) {
    const value = order[name]
    response[name] = value === null ? null : sent[columnOf(name).kind](value as never)
  }
  return response
}
