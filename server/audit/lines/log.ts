import {
  type AppDatabase,
  pageLimitMilliseconds as limitMilliseconds,
  type ReadableDatabase,
} from '../../db/port.ts'
import { describePage, type PageDescription, type PageRequest, pageJson } from '../../http/paging.ts'
import type { LogFilter } from './store.ts'

/** About 70 KB: an export that nobody reads holds two of them, and a reader is soon free for others. */
const batchLines = 100

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
    { limitMilliseconds, caller, isLong: isFiltered(filter) },
  )
  const description = describePage(totalCount, page)
  return { json: pageJson(`[${lines.join(',')}]`, description), description }
}

export function isFiltered(filter: LogFilter): boolean {
  return Object.values(filter).some((value) => value !== undefined)
}

/** Every line after the sequence, in batches, each read when it is asked for. */
export async function* exportLog(
  db: ReadableDatabase,
  after: number,
  caller: string,
): AsyncGenerator<string> {
  for (let reached = after; ; reached += batchLines) {
    const { lines, totalCount } = await db.query(
      'findLogLines',
      { after: reached, direction: 'asc', offset: 0, limit: batchLines },
      { limitMilliseconds, caller, isLong: true },
    )
    if (lines.length > 0) yield `${lines.join('\n')}\n`
    // A short batch need not be the last: if a line is missing, the log continues after it.
    if (totalCount <= batchLines) return
  }
}
