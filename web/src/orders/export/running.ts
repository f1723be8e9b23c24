import { client } from '../../api/client.ts'
import { fetchFile, saveFile } from '../../api/files.ts'
import { onForget } from '../../auth/session.ts'
import { announce } from '../../ui/announce.ts'
import { formatOrders } from '../../ui/format.ts'
import { observable } from '../../ui/observable.ts'
import { dateOf, dayAt } from '../filter/days.ts'
import { type ListSearch, parametersOf } from '../list/search.ts'
import { exportFailure } from './words.ts'

export const exportForms = {
  csv: { type: 'text/csv', linesBefore: 1 },
  jsonl: { type: 'application/jsonl', linesBefore: 0 },
} as const
export type ExportForm = keyof typeof exportForms

type Exporting =
  | { kind: 'none'; failure?: unknown }
  /** How many orders have come, of how many that the list counted. */
  | { kind: 'running'; count: number; of: number }

const exporting = observable<Exporting>({ kind: 'none' })
export const useExporting = exporting.use

let running: AbortController | undefined

/** Nothing is saved, of this export or for anybody else. */
export function stopExport(): void {
  running?.abort()
  running = undefined
  exporting.set({ kind: 'none' })
}

onForget(stopExport)

/** Fetches all that the search finds and saves it as a file, whatever view is shown by then; whether it did. */
export async function exportOrders(form: ExportForm, search: ListSearch, of: number): Promise<boolean> {
  stopExport()
  const run = new AbortController()
  running = run
  let count = 0
  const told = (more: number) => {
    count += more
    if (running === run) exporting.set({ kind: 'running', count, of })
  }
  told(-exportForms[form].linesBefore)
  try {
    const file = await fetchWhole(form, search, run, told)
    if (running !== run) return false
    const name = `orders-${dateOf(dayAt(Date.now()))}.${form}`
    saveFile(file, name)
    announce(`${name} has been saved, with ${formatOrders(count)}.`)
    stopExport()
    return true
  } catch (failure) {
    if (running !== run) return false
    exporting.set({ kind: 'none', failure })
    announce(`${exportFailure(failure).title}. Nothing was saved.`)
    return false
  }
}

function fetchWhole(
  form: ExportForm,
  search: ListSearch,
  run: AbortController,
  told: (lines: number) => void,
): Promise<Blob> {
  const { type } = exportForms[form]
  const { pageSize: _, pageNumber: __, ...list } = parametersOf(search)
  const query = { ...list, ...(form === 'csv' && { bom: true }) }
  const begin = (signal: AbortSignal) =>
    client.GET('/v1/orders', { params: { query }, headers: { accept: type }, parseAs: 'stream', signal })
  return fetchFile(begin, type, run, told)
}
