import type { UserId } from '../../ui/draft.ts'
import { fields } from '../create/form.ts'
import { notation } from '../create/notation.ts'
import { readTotal, type TotalReading } from '../create/total-input.ts'
import type { OrderSummary } from '../order.ts'
import { type Decimal, withDecimal } from './notation.ts'
import type { Cells, Row } from './rows.ts'

type Values = Record<'customer' | 'total', string | number>
const likeness = ({ customer, total }: Values) => `${String(customer).toLowerCase()}\t${Number(total)}`

/** `decimal` is the sign before decimal places; undefined reads each total by itself. */
export function judge(
  rows: readonly Cells[],
  recent: readonly OrderSummary[] = [],
  decimal?: Decimal,
): Row[] {
  const known = new Map<string, number | 'recent'>(recent.map((order) => [likeness(order), 'recent']))
  const readTotalOf = totalReader(decimal)
  return rows.map((cells) => {
    const customer = fields.customer(cells.customer)
    const reading = readTotalOf(cells.total)
    const note = fields.note(cells.note ?? '')
    const faults = {
      ...(!customer.ok && { customer: customer.fault }),
      ...(!reading.ok && { total: reading.fault }),
      ...(!note.ok && { note: note.fault }),
    }
    const isRight = customer.ok && reading.ok && note.ok && cells.fault === undefined
    const values = isRight
      ? { customer: customer.wire, total: reading.wire, ...(note.wire && { note: note.wire }) }
      : undefined
    const double = values && known.get(likeness(values))
    if (values && double === undefined) known.set(likeness(values), cells.number)
    return { ...cells, values, faults, reading, double, isSum: sumWords.test(cells.customer) }
  })
}

/** Begins the first cell of a row that sums up others. */
const sumWords = /^\s*(?:grand total|sub-?total|total|sum|(?:zwischen|gesamt)?summe|gesamt|somme|totale?)\b/i

/** A column of which the notation is known leaves no doubt. */
function totalReader(decimal: Decimal | undefined): (text: string) => TotalReading {
  if (decimal === undefined) return fields.total
  const own = withDecimal(notation, decimal)
  return (text) => {
    const reading = readTotal(text, own)
    if (!reading.ok) return reading
    const { otherwise: _, ...sure } = reading
    return sure
  }
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
