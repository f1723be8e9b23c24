/**
 * A row as text, in the order of the table's columns. Every column reads the same as text on both engines.
 */
export type TextRow = Record<string, string | null>

export interface CopiedTable {
  name: string
  columns: string[]
  /** Columns of the primary key, in its order. */
  key: string[]
  /** Whether a column holds bytes, which read as `\x` and hexadecimal digits. */
  hasBytes: boolean
  /** The rows that the migrations insert, in key order. */
  initialRows: TextRow[]
}

/** Rows in a batch. This bounds the use of memory. */
export const batchRows = ({ hasBytes }: CopiedTable): number => (hasBytes ? 16 : 2_000)

/** Quotes a name of the schema for SQL of either engine. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

export function selectInKeyOrder(
  { name, columns, key }: CopiedTable,
  asText: (column: string) => string = (column) => `cast(${column} as text)`,
): string {
  const texts = columns.map((column) => `${asText(quoted(column))} as ${quoted(column)}`)
  // Without the table's name, `order by` would mean the output column, which is always text.
  const order = key.map((column) => `${quoted(name)}.${quoted(column)}`)
  return `select ${texts} from ${quoted(name)} order by ${order}`
}
