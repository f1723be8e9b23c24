/** Every order that matches, as a stream: each batch is read when the one before it has been sent. */
import type { ReadableDatabase } from '../../db/port.ts'
import type { ExportBatch, ExportRequest, Place } from './find.ts'
import { formOf } from './forms.ts'

/** Long, because a filter with few matches looks at every order. */
const batchLimitMilliseconds = 3_000

/** Every match as text, in batches. Throws `QueryTooSlow`, `TooManyWaiting`. */
export async function* exportOrders(
  db: ReadableDatabase,
  request: ExportRequest,
  caller: string,
): AsyncGenerator<string> {
  let begin = formOf(request.type, request).begin
  for (let place: Place | null = { part: 0, last: null }; place !== null; ) {
    const batch: ExportBatch = await db.query(
      'findExportBatch',
      { request, place },
      { limitMilliseconds: batchLimitMilliseconds, caller, isLong: true },
    )
    yield begin + batch.text
    begin = ''
    place = batch.next
  }
}
