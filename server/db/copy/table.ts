/** A row as text, its columns in the order of the table's. Every column reads the same as text on both engines. */
export type TextRow = Record<string, string | null>

export interface CopiedTable {
  name: string
  columns: string[]
  /** Columns of the primary key, in its order. */
  key: string[]
  /** The rows that the migrations themselves make, in key order. */
  initialRows: TextRow[]
}

/** Of a batch, at most: memory stays bounded. */
export const batchRows = 2_000

/** A name of the schema in SQL of either engine. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

export function selectInKeyOrder({ name, columns, key }: CopiedTable): string {
  const texts = columns.map((column) => `cast(${quoted(column)} as text) as ${quoted(column)}`)
  // Without the table's name `order by` would mean the output column, which is text also where the key is a number.
  const order = key.map((column) => `${quoted(name)}.${quoted(column)}`)
  return `select ${texts} from ${quoted(name)} order by ${order}`
}
