import type { Kysely } from 'kysely'
import type { Database } from '../../db/tables.ts'
import type { ExportType } from '../../http/route.ts'
import type { AppDatabase } from '../../operations.ts'
import { formOf } from './forms.ts'
import { findPortion, type ListOfAll, type Place } from './portion.ts'

/** What one portion may take: with a filter that matches little it looks at every order. */
const portionLimitMilliseconds = 10_000

export interface ExportRequest extends ListOfAll {
  type: ExportType
  bom: boolean
}

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

export interface ExportPortion {
  text: string
  next: Place | null
}

/** Made where it is read, so that the event loop only sends it. */
export async function findExportPortion(
  snapshot: Kysely<Database>,
  { request, place }: { request: ExportRequest; place: Place },
): Promise<ExportPortion> {
  const { orders, next } = await findPortion(snapshot, request, place)
  const { row } = formOf(request.type, request)
  return { text: orders.map(row).join(''), next }
}
