import { hashKey } from '@tanstack/react-query'
import { notation } from '../orders/create/notation.ts'
import { readTotal } from '../orders/create/total-input.ts'
import type { PolicyRow } from '../orders/policy.ts'
import type { Reading } from '../ui/draft.ts'
import { typedTotal } from '../ui/format.ts'
import type { WireRow } from './queries.ts'

/** Set by the contract. */
export const rowLimit = 20
export const approvalNumbers = [1, 2, 3, 4, 5] as const

/** A row with its total as typed. The first begins at 0 and has no text. */
export interface DraftRow extends Omit<PolicyRow, 'from'> {
  key: string
  text: string
}

export function draftOf(rows: readonly PolicyRow[]): DraftRow[] {
  return rows.map(({ from, ...row }, index) => ({
    ...row,
    key: String(index),
    text: index === 0 ? '' : typedTotal(from),
  }))
}

/** One approval more than the row above, from people other than the creator. */
export function rowAfter(rows: readonly DraftRow[]): DraftRow {
  const approvals = Math.min(5, (rows.at(-1)?.approvals ?? 0) + 1)
  const rule = { approvals, selfApproval: false, services: false, role: null, passkey: false }
  return { key: crypto.randomUUID(), text: '', ...rule }
}

/** The value of each row's total, in the order of the rows. */
export function readFroms(rows: readonly DraftRow[]): Reading<string>[] {
  const known = new Set<string>()
  return rows.map(({ text }, index) => {
    const reading = index === 0 ? ({ ok: true, wire: '0' } as const) : readTotal(text, notation)
    if (!reading.ok) return reading
    if (known.has(reading.wire)) return { ok: false, fault: 'Another row begins at this total.' }
    known.add(reading.wire)
    return { ok: true, wire: reading.wire }
  })
}

/** As the service takes them, in ascending order; undefined while a total is invalid. */
export function wireRowsOf(rows: readonly DraftRow[]): WireRow[] | undefined {
  const froms = readFroms(rows)
  const wire = rows.flatMap(({ key, text, ...rules }, index) => {
    const from = froms[index]
    return from?.ok ? [{ from: from.wire, ...rules }] : []
  })
  if (wire.length < rows.length) return undefined
  return wire.toSorted((one, other) => Number(one.from) - Number(other.from))
}

export function areSame(rows: readonly WireRow[], others: readonly PolicyRow[]): boolean {
  const textOf = (all: readonly (WireRow | PolicyRow)[]) =>
    hashKey(all.map((row) => ({ ...row, from: Number(row.from) })))
  return textOf(rows) === textOf(others)
}

export const fromId = ({ key }: Pick<DraftRow, 'key'>) => `from-${key}`
