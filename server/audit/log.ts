import { describePage, type PageDescription, type PageRequest } from '../http/paging.ts'
import type { AppDatabase } from '../operations.ts'

/** A range of sequences is read by its index: this is never reached. */
const limitMilliseconds = 10_000
/** Lines of an export that are read together: some 700 KB. */
const portionLines = 1_000

export interface LogQuery {
  after: number
  direction: 'asc' | 'desc'
  page: PageRequest
}

/** A page of the log as the JSON text of the answer. */
export async function listLog(
  db: AppDatabase,
  { after, direction, page }: LogQuery,
  caller: string,
): Promise<{ json: string; description: PageDescription }> {
  const { lines, totalCount } = await db.query(
    'findLogLines',
    { after, direction, offset: page.offset, limit: page.pageSize },
    { limitMilliseconds, caller },
  )
  const description = describePage(totalCount, page)
  return { json: `{"items":[${lines.join(',')}],${JSON.stringify(description).slice(1)}`, description }
}

/** Every line after the sequence, in portions of whole lines, each read when it is asked for. */
export async function* exportLog(db: AppDatabase, after: number, caller: string): AsyncGenerator<string> {
  for (let reached = after; ; reached += portionLines) {
    const { lines, totalCount } = await db.query(
      'findLogLines',
      { after: reached, direction: 'asc', offset: 0, limit: portionLines },
      { limitMilliseconds, caller },
    )
    if (lines.length > 0) yield `${lines.join('\n')}\n`
    // Not when lines are few: where one is missing, what comes after it is still told.
    if (totalCount <= portionLines) return
  }
}
