import { client } from '../../api/client.ts'
import { fetchFile, saveFile } from '../../api/files.ts'
import { onForget } from '../../auth/session.ts'
import { announce } from '../../ui/announce.ts'
import { formatOrders } from '../../ui/format.ts'
import { observable } from '../../ui/observable.ts'
import { type ListSearch, parametersOf } from '../address/address.ts'
import { dateOf, dayAt } from '../filter/days.ts'
import { exportFailure } from './words.ts'

export type Exporting =
  | { kind: 'none'; failure?: unknown }
  /** How many have arrived, and the total if it is known. */
  | { kind: 'running'; count: number; of?: number | undefined }

interface Export {
  name: string
  type: string
  begin(signal: AbortSignal): Promise<Response>
  /** How many lines come before the first entry. */
  linesBefore?: number
  of?: number
  /** How many lines are kept. */
  limit?: number | undefined
  /** Such as "1,204 orders". */
  inWords(count: number): string
}

/** Exports one thing at a time, whatever view is on the screen, and announces the result. */
export function exporter() {
  const exporting = observable<Exporting>({ kind: 'none' })
  let running: AbortController | undefined

  function end(failure?: unknown): void {
    running?.abort()
    running = undefined
    exporting.set({ kind: 'none', failure })
  }
  // Nothing is saved for another person.
  onForget(() => end())

  return {
    use: exporting.use,
    stop() {
      end()
      announce('Export stopped. Nothing was saved.')
    },
    /** Fetches everything and saves it as a file. Returns whether it did. */
    async run({ name, type, begin, linesBefore = 0, of, inWords, limit }: Export): Promise<boolean> {
      end()
      const run = new AbortController()
      running = run
      let count = -linesBefore
      const arrived = (lines: number) => {
        count += lines
        if (running === run) exporting.set({ kind: 'running', count: Math.max(count, 0), of })
      }
      arrived(0)
      try {
        const file = await fetchFile(begin, type, run, arrived, limit)
        if (running !== run) return false
        saveFile(file, name)
        announce(`Saved ${name} with ${inWords(count)}.`)
        end()
        return true
      } catch (failure) {
        if (running !== run) return false
        end(failure)
        announce(`${exportFailure(failure).title}. Nothing was saved.`)
        return false
      }
    },
  }
}

export const ordersExport = exporter()

/** Everything that the search finds, for a spreadsheet. */
export function exportOrders(search: ListSearch, of: number): Promise<boolean> {
  const { pageSize: _, pageNumber: __, ...list } = parametersOf(search)
  const type = 'text/csv'
  const params = { query: { ...list, bom: true } }
  return ordersExport.run({
    name: `orders-${dateOf(dayAt(Date.now()))}.csv`,
    type,
    begin: (signal) => client.export('/v1/orders', type, { params, signal }),
    linesBefore: 1,
    of,
    inWords: formatOrders,
  })
}
