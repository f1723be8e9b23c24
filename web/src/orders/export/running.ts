import { client } from '../../api/client.ts'
import { NoAnswerError } from '../../api/problem.ts'
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

/** What is silent for so long is a connection that was lost: the service reads a portion in a third of that. */
const silenceMilliseconds = 35_000

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
    save(file, name)
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

/**
 * Not a link: one cannot set `Accept`, nor say why the service refuses. The browser keeps what comes outside of the page's
 * memory, and what breaks off is never taken for whole.
 */
async function fetchWhole(
  form: ExportForm,
  search: ListSearch,
  run: AbortController,
  told: (lines: number) => void,
): Promise<Blob> {
  const { type } = exportForms[form]
  const { pageSize: _, pageNumber: __, ...list } = parametersOf(search)
  let timer = setTimeout(fallSilent, silenceMilliseconds)
  function fallSilent() {
    run.abort(new NoAnswerError('an export that fell silent'))
  }
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      clearTimeout(timer)
      timer = setTimeout(fallSilent, silenceMilliseconds)
      told(linesIn(chunk))
      controller.enqueue(chunk)
    },
  })
  try {
    const query = { ...list, ...(form === 'csv' && { bom: true }) }
    const { response } = await client.GET('/v1/orders', {
      params: { query },
      headers: { accept: type },
      parseAs: 'stream',
      signal: run.signal,
    })
    return await new Response(response.body?.pipeThrough(counting), {
      headers: { 'content-type': type },
    }).blob()
  } finally {
    clearTimeout(timer)
  }
}

const lineFeed = 10

function linesIn(bytes: Uint8Array): number {
  let lines = 0
  for (let at = bytes.indexOf(lineFeed); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) lines += 1
  return lines
}

/** The browser reads the file after the click, at a moment that it does not tell. */
const keptMilliseconds = 60_000

function save(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), keptMilliseconds)
}
