import type { CellName } from '../create/form.ts'
import type { TotalReading } from '../create/total-input.ts'

/** The cells of a row of the sheet. */
export interface Cells extends Record<CellName, string> {
  /** As a spreadsheet counts, which includes headings and empty rows. */
  number: number
  /** If the sheet has such a column. */
  note?: string
  /** A fault in the row as a whole. */
  fault?: string
}

/** A row as the single form would judge it. */
export interface Row extends Cells {
  /** The values to send; undefined if the row has a fault. */
  values: (Record<CellName, string> & { note?: string }) | undefined
  faults: Partial<Record<CellName | 'note', string>>
  reading: TotalReading
  /** The first row of the sheet, or an order of the last day, with this customer and total. */
  double: number | 'recent' | undefined
  /** It seems to sum up the rows above. */
  isSum: boolean
}

export type Result =
  | { kind: 'created' }
  /** The service had created it when the same sheet was sent before. */
  | { kind: 'known' }
  | { kind: 'failed'; why: string }

/** By the number of the row. */
export type Results = Readonly<Record<number, Result>>
