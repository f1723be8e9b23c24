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
  /** Before the first order. */
  begin: string
  row(order: Record<ColumnName, unknown>): string
}

/** The cells of a spreadsheet: a status is its name, a total an exact decimal. */
const cellOf: Record<ColumnKind, (value: never) => string> = {
  id: (id: string) => id,
  text: textCell,
  total: decimalOf,
  status: (status: OrderStatus) => nameOfStatus(status),
  count: String,
  instant: formatInstant,
}

/** A sign of UTF-8 for programs that would guess another encoding. */
const byteOrderMark = '\ufeff'

/** CSV as in RFC 4180, with CR LF behind each line, or JSON Lines. */
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

/** Empty for null. */
function cell(name: ColumnName, value: unknown): string {
  return value === null ? '' : cellOf[columnOf(name).kind](value as never)
}

/** An apostrophe keeps a spreadsheet from taking a text for a formula (OWASP, CSV injection). */
function textCell(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
