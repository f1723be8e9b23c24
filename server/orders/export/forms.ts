import { formatInstant } from '../../clock.ts'
import type { ExportType } from '../../http/route.ts'
import {
  type ColumnKind,
  type ColumnName,
  columnOf,
  decimalOf,
  nameOfStatus,
  type OrderStatus,
  summaryNames,
} from '../order.ts'
import { toResponse } from '../responses.ts'

export interface Form {
  /** What stands before the first order. */
  begin: string
  row(order: Record<ColumnName, unknown>): string
}

/** A cell of a spreadsheet: a status by its name, a total without loss. */
const cellOf: Record<ColumnKind, (value: never) => string> = {
  id: (id: string) => id,
  text: textCell,
  total: decimalOf,
  status: (status: OrderStatus) => nameOfStatus(status),
  count: String,
  instant: formatInstant,
}

/** RFC 4180: CR LF behind each line. With a byte-order mark programs take it for UTF-8 that guess otherwise. */
const byteOrderMark = '\ufeff'

export function formOf(
  type: ExportType,
  { bom, columns = summaryNames }: { bom: boolean; columns?: readonly ColumnName[] },
): Form {
  if (type === 'application/jsonl') {
    return { begin: '', row: (order) => `${JSON.stringify(toResponse(columns, order))}\n` }
  }
  return {
    begin: `${bom ? byteOrderMark : ''}${columns.join(',')}\r\n`,
    row: (order) => `${columns.map((name) => cell(name, order[name])).join(',')}\r\n`,
  }
}

/** An empty one for what an order does not have. */
function cell(name: ColumnName, value: unknown): string {
  return value === null ? '' : cellOf[columnOf(name).kind](value as never)
}

/** A text that a spreadsheet would take for a formula is led by an apostrophe (OWASP, CSV injection). */
function textCell(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
