import type { UserId } from '../../ui/draft.ts'
import { type CellName, fields } from '../create/form.ts'
import type { OrderSummary } from '../order.ts'
import type { Cells, Row } from './rows.ts'

type Values = Record<CellName, string | number>
const likeness = ({ customer, total }: Values) => `${String(customer).toLowerCase()}\t${Number(total)}`

export function judge(rows: readonly Cells[], recent: readonly OrderSummary[] = []): Row[] {
  const known = new Map<string, number | 'recent'>(recent.map((order) => [likeness(order), 'recent']))
  return rows.map((cells) => {
    const customer = fields.customer(cells.customer)
    const reading = fields.total(cells.total)
    const faults = {
      ...(!customer.ok && { customer: customer.fault }),
      ...(!reading.ok && { total: reading.fault }),
    }
    const isRight = customer.ok && reading.ok && cells.fault === undefined
    const values = isRight ? { customer: customer.wire, total: reading.wire } : undefined
    const double = values && known.get(likeness(values))
    if (values && double === undefined) known.set(likeness(values), cells.number)
    return { ...cells, values, faults, reading, double }
  })
}

/**
 * Names the sheet by what its rows say, for one account. The same rows have the same name, whether pasted or
 * from a file.
 */
export async function nameOf(rows: readonly Row[], userId: UserId): Promise<string> {
  const content = rows.map(({ values, customer, total }) => values ?? { customer, total })
  const bytes = new TextEncoder().encode(JSON.stringify([userId, content]))
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** `at` counts the rows of the sheet. Each row is created once, however often the sheet is sent. */
export const keyOf = (name: string, at: number) => `sheet-${name}-${at}`
