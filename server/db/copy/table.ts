/** A row as text, in the order of the table's columns. Every column reads the same as text on both engines. */
export type TextRow = (string | null)[]

export interface CopiedTable {
  name: string
  columns: string[]
  /** Columns of the primary key, in its order. */
  key: string[]
  /** The rows that the migrations themselves make, in key order. */
  initialRows: TextRow[]
}

/** Of a batch, at most. */
export const batchRows = 2_000

/** A name of the schema in SQL of either engine. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
