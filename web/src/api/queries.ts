import { type FetchQueryOptions, QueryClient, type QueryKey } from '@tanstack/react-query'
import { inBackground } from './client.ts'
import { isPassing, retryDelayMilliseconds } from './problem.ts'

/** What was fetched stays fresh this long, unless this browser changes it. */
const freshMilliseconds = 15_000

/**
 * What the views fetched. A passing failure is retried until it passes or its view goes away; the views show
 * `failureReason` meanwhile. Only events that are about to be sealed are fetched by a timer.
 */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: freshMilliseconds,
      // navigator.onLine is often wrong.
      networkMode: 'always',
      retry: (_tries, failure) => isPassing(failure),
      retryDelay: retryDelayMilliseconds,
      // Done below, and only for what someone waits for.
      refetchOnReconnect: false,
    },
    mutations: {
      networkMode: 'always',
      retry: false,
    },
  },
})

/**
 * Fetches ahead of the view that will want it, as a request of the app. A failure is retried only once that
 * view is there and waits for it.
 */
export function prefetch<Data, Failure, Shown, Key extends QueryKey>(
  query: FetchQueryOptions<Data, Failure, Shown, Key>,
): void {
  const { queryKey } = query
  const isWanted = () => queries.getQueryCache().find({ queryKey, exact: true })?.isActive() ?? false
  const retry = (_tries: number, failure: unknown) => isPassing(failure) && isWanted()
  void queries.prefetchQuery({ ...query, retry, meta: { headers: Object.fromEntries([inBackground]) } })
}

declare module '@tanstack/react-query' {
  interface Register {
    /** What a fetch has besides its parameters. */
    queryMeta: { headers?: Record<string, string> }
  }
}

// The next retries need not wait any longer.
addEventListener('online', () => {
  void queries.refetchQueries(
    { type: 'active', predicate: (query) => query.state.fetchFailureCount > 0 },
    { cancelRefetch: true },
  )
})
