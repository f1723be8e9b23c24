import { textCell } from '../../../../rules/cell.ts'
import { saveFile } from '../../api/files.ts'
import type { Results, Row } from './rows.ts'
import { fileHead } from './words.ts'

export interface Failure {
  row: Row
  why: string
}

/** The rows of which no order was made, and why. */
export function failuresOf(rows: readonly Row[], results: Results): Failure[] {
  return rows.flatMap((row) => {
    const result = results[row.number]
    const faults = [row.fault, row.faults.customer, row.faults.total, row.faults.note].filter(
      (fault) => fault !== undefined,
    )
    if (row.values === undefined) return [{ row, why: faults.join(' ') }]
    return result?.kind === 'failed' ? [{ row, why: result.why }] : []
  })
}

/** As an export is written; corrected, it can be sent as another sheet. */
export function csvOf(failures: readonly Failure[]): string {
  const lines = failures.map(({ row: { customer, total, note = '', number }, why }) => [
    customer,
    total,
    note,
    String(number),
    why,
  ])
  return [fileHead, ...lines].map((cells) => `${cells.map(textCell).join(',')}\r\n`).join('')
}

const byteOrderMark = '\ufeff'

export function saveFailures(failures: readonly Failure[]): void {
  saveFile(new Blob([byteOrderMark, csvOf(failures)], { type: 'text/csv' }), 'rows-that-failed.csv')
}
