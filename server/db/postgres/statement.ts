import pg from 'pg'

/** What the driver calls, and what its types leave out. */
interface StatementConnection {
  parsedStatements: Record<string, string>
  submittedNamedStatements: Record<string, string>
  parse(statement: { text: string; name: string }): void
  bind(values: { statement: string; values: unknown[]; valueMapper: typeof toText }): void
  describe(portal: { type: 'P'; name: string }): void
  execute(portal: { portal: string }): void
  sync(): void
}

/** The columns of a statement's rows, which the server need not tell anew each time. */
interface Shape {
  names: string[]
  parsers: ((text: string) => unknown)[]
}

export interface NamedStatement {
  text: string
  name: string
  shape: Shape | undefined
}

type Row = Record<string, unknown>

/** Values of prepared queries are strings, numbers and null. */
function toText(value: unknown): string | null {
  return value === null ? null : String(value)
}

/**
 * One run of a named statement on the driver's own protocol. The columns are asked for once: to describe them to each
 * other costs both sides as much as a row of them.
 */
export class StatementRun extends pg.Query {
  readonly #statement: NamedStatement
  readonly #types: pg.CustomTypesConfig
  readonly #values: unknown[]
  readonly #rows: Row[] = []
  #failure: unknown
  /** The driver puts its own in place, which also ends its timer. */
  callback: (error: unknown, rows?: Row[]) => void

  constructor(
    statement: NamedStatement,
    values: readonly unknown[],
    types: pg.CustomTypesConfig,
    callback: (error: unknown, rows?: Row[]) => void,
  ) {
    super({ text: statement.text, name: statement.name, values: values as unknown[] })
    this.#statement = statement
    this.#types = types
    this.#values = values as unknown[]
    this.callback = callback
  }

  prepare(connection: StatementConnection): void {
    const { text, name, shape } = this.#statement
    const isParsed =
      connection.parsedStatements[name] !== undefined ||
      connection.submittedNamedStatements[name] !== undefined
    if (!isParsed) {
      connection.parse({ text, name })
      connection.submittedNamedStatements[name] = text
    }
    connection.bind({ statement: name, values: this.#values, valueMapper: toText })
    if (shape === undefined) connection.describe({ type: 'P', name: '' })
    connection.execute({ portal: '' })
    connection.sync()
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    this.#statement.shape = {
      names: fields.map(({ name }) => name),
      parsers: fields.map(({ dataTypeID }) => this.#types.getTypeParser(dataTypeID, 'text')),
    }
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const { shape } = this.#statement
    if (shape === undefined) return
    const row: Row = {}
    try {
      for (let index = 0; index < fields.length; index += 1) {
        const value = fields[index] as string | null
        row[shape.names[index] as string] = value === null ? null : shape.parsers[index]?.(value)
      }
      this.#rows.push(row)
    } catch (error) {
      this.#failure = error
    }
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    if (this.#failure === undefined) this.callback(null, this.#rows)
    else this.callback(this.#failure)
  }

  handleError(error: unknown): void {
    this.callback(error)
  }
}
