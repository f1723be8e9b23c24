import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { components } from '../../../client/src/schema.ts'
import { answerOf, client } from '../api/client.ts'
import { saveFile } from '../api/files.ts'
import { problemOf } from '../api/problem.ts'
import { exporter } from '../orders/export/running.ts'
import { formatCount } from '../ui/format.ts'
import { type LogSearch, parametersOf } from './search.ts'

export type LogEvent = Omit<components['schemas']['LogEvent'], 'data'> & {
  /** Depends on the kind of event. A later version may put anything here. */
  data: Record<string, unknown>
}

export function logQuery(search: LogSearch) {
  const query = parametersOf(search)
  return queryOptions({
    queryKey: ['log', query],
    queryFn: ({ signal }) => answerOf(client.GET('/v1/log', { params: { query }, signal })),
    // The previous page stays in sight while the next one loads.
    placeholderData: keepPreviousData,
    // People come back to see what has happened.
    staleTime: 0,
  })
}

export const eventsInWords = (count: number) => `${formatCount(count)} ${count === 1 ? 'event' : 'events'}`

export const logExport = exporter()

/** The log up to a line, or the whole, in the form that `/verify` and `log verify` read. */
export function exportLog(limit?: number): Promise<boolean> {
  const type = 'application/jsonl'
  return logExport.run({
    name: 'log.jsonl',
    type,
    begin: (signal) => client.export('/v1/log', type, { signal }),
    limit,
    inWords: eventsInWords,
  })
}

export interface SavedCheckpoint {
  name: string
  size: number
}

/**
 * Saves a signed statement of how far the log goes. Returns the name of the file and how many events it
 * covers.
 */
export async function saveCheckpoint(): Promise<SavedCheckpoint> {
  const answer = await client.export('/v1/log/checkpoint', 'text/plain')
  const checkpoint = await answer.text()
  // Its signature is not checked here: people who rely on it check it themselves.
  const size = Number(checkpoint.split('\n')[1])
  const name = `checkpoint-${size}.txt`
  saveFile(new Blob([checkpoint], { type: 'text/plain' }), name)
  return { name, size }
}

/** The objection of witnesses to the log, in the words of the service; null for none. */
export const contradictionQuery = queryOptions({
  queryKey: ['log-contradiction'],
  queryFn: async () => {
    try {
      await answerOf(client.GET('/health/ready'))
    } catch (failure) {
      return problemOf(failure, 'log-contradicted')?.detail ?? null
    }
    return null
  },
  staleTime: 0,
})
