import { formatInstant } from '../../clock.ts'
import type { ExportType } from '../../http/route.ts'
import {
  decimalOf,
  type FieldKind,
  nameOfStatus,
  type OrderStatus,
  type OrderSummary,
  orderFields,
  summaryNames,
} from '../order.ts'
import { toResponse } from '../responses.ts'

export interface Form {
  /** What stands before the first order. */
  begin: string
  row(order: OrderSummary): string
}

/** A cell of a spreadsheet: a status by its name, a total without loss. */
const cellOf: Record<FieldKind, (value: never) => string> = {
  id: (id: string) => id,
  text: textCell,
  total: decimalOf,
  status: (status: OrderStatus) => nameOfStatus(status),
  instant: formatInstant,
}

/** RFC 4180: CR LF behind each line. With a byte-order mark programs take it for UTF-8 that guess otherwise. */
const byteOrderMark = '\ufeff'

export function formOf(type: ExportType, { bom }: { bom: boolean }): Form {
  if (type === 'application/jsonl') {
    return { begin: '', row: (order) => `${JSON.stringify(toResponse(summaryNames, order))}\n` }
  }
  return {
    begin: `${bom ? byteOrderMark : ''}${summaryNames.join(',')}\r\n`,
    row: (order) =>
      `${summaryNames.map((name) => cellOf[orderFields[name].kind](order[name] as never)).join(',')}\r\n`,
  }
}

/** A text that a spreadsheet would take for a formula is led by an apostrophe (OWASP, CSV injection). */
function textCell(text: string): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
