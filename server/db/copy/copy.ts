/** Copies a SQLite database to an empty PostgreSQL: everything, verified, or nothing. */
import { createHash } from 'node:crypto'
import { parseDatabaseUrl } from '../address.ts'
import { about, DatabaseRefused } from '../errors.ts'
import { CopySource, describeTables } from './source.ts'
import type { CopiedTable, TextRow } from './table.ts'
import { type CopyTarget, inTarget } from './target.ts'

export interface CopyProgress {
  phase: 'copying' | 'verifying'
  table: string
  /** Rows of the table copied so far. */
  rows: number
  of: number
}

export interface CopyReport {
  /** By name, in the order of copying. */
  tables: Record<string, TableContent>
  rows: number
  /** Tables and columns of the source that are not Countersign's, for example those of a backup tool. */
  leftBehind: string[]
}

export interface TableContent {
  rows: number
  /** SHA-256 (hexadecimal) of the rows in key order: each a JSON array of text, and a line feed. */
  sha256: string
}

/**
 * Copies a SQLite database to an empty PostgreSQL database, all or nothing. Nobody can write to the source in
 * the meantime (`CopySource`). One transaction migrates and fills the target (`CopyTarget`); it commits only
 * when every table, read back from it, has the count and content of the source's. The target makes its own
 * tally, which is compared with its orders. Ids are kept, and the target never reuses an id that the source
 * assigned. Memory does not grow with the number of rows.
 *
 * Throws `DatabaseRefused`; its message names `--from` or `--to` and repeats no address.
 */
export async function copyDatabase(options: {
  from: string
  to: string
  onProgress: (progress: CopyProgress) => void
}): Promise<CopyReport> {
  const from = await about('--from', () => parseDatabaseUrl(options.from))
  const to = await about('--to', () => parseDatabaseUrl(options.to))
  if (from.engine !== 'sqlite' || to.engine !== 'postgres') {
    throw new DatabaseRefused('copy goes from SQLite to PostgreSQL only: --from file:... --to postgres://...')
  }
  const tables = await describeTables()
  const source = await about('--from', () => CopySource.lock(from.file))
  try {
    const { onProgress } = options
    return await about('--to', () =>
      inTarget(to.url, (target) => copyTables(source, target, tables, onProgress)),
    )
  } finally {
    source.close()
  }
}

async function copyTables(
  source: CopySource,
  target: CopyTarget,
  tables: CopiedTable[],
  onProgress: (progress: CopyProgress) => void,
): Promise<CopyReport> {
  const report: CopyReport = { tables: {}, rows: 0, leftBehind: source.unknownParts(tables) }
  await target.takeOver(tables)
  for (const table of tables) {
    const of = source.count(table)
    const told = (phase: CopyProgress['phase']) => (rows: number) =>
      onProgress({ phase, table: table.name, rows, of })
    const insert = (batch: TextRow[]) => target.insert(table, batch)
    const copied = await contentOf(source.batches(table), told('copying'), insert)
    await target.analyze(table)
    const arrived = await contentOf(target.batches(table), told('verifying'))
    if (of !== copied.rows || of !== arrived.rows || copied.sha256 !== arrived.sha256) {
      throw new DatabaseRefused(
        `DATABASE_URL: the table ${table.name} did not arrive as it was sent (${of} rows in the source, ` +
          `${arrived.rows} in the target${of === arrived.rows ? ', with other content' : ''}); nothing was kept`,
      )
    }
    report.tables[table.name] = arrived
    report.rows += arrived.rows
  }
  await target.verifyTally()
  for (const table of tables) {
    for (const column of await target.identityColumns(table)) {
      await target.restartIdentity(table, column, source.greatestId(table, column))
    }
  }
  return report
}

/** The content of the batches, each of which is passed on to `take`. */
async function contentOf(
  batches: Iterable<TextRow[]> | AsyncIterable<TextRow[]>,
  onRows: (rows: number) => void,
  take?: (batch: TextRow[]) => Promise<void>,
): Promise<TableContent> {
  const content = new ContentHash()
  for await (const batch of batches) {
    onRows(content.rows)
    await take?.(batch)
    content.add(batch)
  }
  return content.end()
}

/** Computes a `TableContent` while rows pass by. */
class ContentHash {
  rows = 0
  readonly #hash = createHash('sha256')

  add(batch: TextRow[]): void {
    this.rows += batch.length
    this.#hash.update(`${batch.map((row) => JSON.stringify(Object.values(row))).join('\n')}\n`)
  }

  end(): TableContent {
    return { rows: this.rows, sha256: this.#hash.digest('hex') }
  }
}
