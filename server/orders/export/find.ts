import type { Kysely } from '#kysely'
import type { Database } from '../../db/tables.ts'
import type { ExportType } from '../../http/route.ts'
import { formOf } from './forms.ts'
import { findPortion, type ListOfAll, type Place } from './portion.ts'

export interface ExportRequest extends ListOfAll {
  type: ExportType
  bom: boolean
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
