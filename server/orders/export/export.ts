import type { AppDatabase } from '../../db/port.ts'
import type { ExportPortion, ExportRequest } from './find.ts'
import { formOf } from './forms.ts'
import type { Place } from './portion.ts'

/** What one portion may take: with a filter that matches little it looks at every order. */
const portionLimitMilliseconds = 3_000

/** Every match as text, in portions, each read when it is asked for. Throws `QueryTooSlow`, `TooManyWaiting`. */
export async function* exportOrders(
  db: AppDatabase,
  request: ExportRequest,
  caller: string,
): AsyncGenerator<string> {
  let begin = formOf(request.type, request).begin
  for (let place: Place | null = { part: 0, last: null }; place !== null; ) {
    const portion: ExportPortion = await db.query(
      'findExportPortion',
      { request, place },
      { limitMilliseconds: portionLimitMilliseconds, caller },
    )
    yield begin + portion.text
    begin = ''
    place = portion.next
  }
}
