import { textCell } from '../../../rules/cell.ts'
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
  /** Written before the first order. */
  begin: string
  row(order: Record<ColumnName, unknown>): string
}

/** How spreadsheet cells are written: a status as its name, a total as an exact decimal. */
const cellOf: Record<ColumnKind, (value: never) => string> = {
  id: (id: string) => id,
  text: textCell,
  total: decimalOf,
  status: (status: OrderStatus) => nameOfStatus(status),
  number: String,
  count: String,
  names: textCell,
  flag: (flag) => String(Boolean(flag)),
  instant: formatInstant,
}

/** Marks the file as UTF-8 for programs that would guess another encoding. */
const byteOrderMark = '\ufeff'

/** CSV as in RFC 4180, with CR LF after each line, or JSON Lines. */
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
