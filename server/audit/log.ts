import type { AppDatabase } from '../db/port.ts'
import { describePage, type PageDescription, type PageRequest, pageJson } from '../http/paging.ts'
import type { LogFilter } from './store.ts'

/** What one page or one batch may take before it is stopped with `filter-too-expensive`. */
const limitMilliseconds = 2_000
/** Some 700 KB. */
const batchLines = 1_000

export interface LogQuery {
  after: number
  direction: 'asc' | 'desc'
  page: PageRequest
  filter: LogFilter
}

/** A page of the log as the JSON text of the answer. Throws `QueryTooSlow`, `TooManyWaiting`. */
export async function listLog(
  db: AppDatabase,
  { after, direction, page, filter }: LogQuery,
  caller: string,
): Promise<{ json: string; description: PageDescription }> {
  const { lines, totalCount } = await db.query(
    'findLogLines',
    { after, direction, offset: page.offset, limit: page.pageSize, ...(isFiltered(filter) && { filter }) },
    { limitMilliseconds, caller },
  )
  const description = describePage(totalCount, page)
  return { json: pageJson(`[${lines.join(',')}]`, description), description }
}

export function isFiltered(filter: LogFilter): boolean {
  return Object.values(filter).some((value) => value !== undefined)
}

/** Every line after the sequence, in batches, each read when it is asked for. */
export async function* exportLog(db: AppDatabase, after: number, caller: string): AsyncGenerator<string> {
  for (let reached = after; ; reached += batchLines) {
    const { lines, totalCount } = await db.query(
      'findLogLines',
      { after: reached, direction: 'asc', offset: 0, limit: batchLines },
      { limitMilliseconds, caller },
    )
    if (lines.length > 0) yield `${lines.join('\n')}\n`
    // A short batch is not the end: the log goes on behind a line that is missing.
    if (totalCount <= batchLines) return
  }
}
