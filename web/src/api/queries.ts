import { type FetchQueryOptions, QueryClient, type QueryKey } from '@tanstack/react-query'
import { inBackground } from './client.ts'
import { isPassing, retryDelayMilliseconds } from './problem.ts'

/** What was fetched stays good for so long, unless something in this browser changes it. */
const freshMilliseconds = 15_000

/**
 * What the views fetched. A failure that passes is tried again until it does or its view goes away; the views show
 * `failureReason` meanwhile. Nothing is fetched by a timer but events that are about to be sealed.
 */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: freshMilliseconds,
      // navigator.onLine is often wrong: only a try tells.
      networkMode: 'always',
      retry: (_tries, failure) => isPassing(failure),
      retryDelay: retryDelayMilliseconds,
      // Below, and only for what is waited for.
      refetchOnReconnect: false,
    },
    mutations: {
      networkMode: 'always',
      retry: false,
    },
  },
})

/**
 * Fetches ahead of the view that will want it, and says so to the service. It is tried again as ever once that view is
 * there and waits for the same fetch, and else not at all.
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

// Who waits for the next try need not wait any longer.
addEventListener('online', () => {
  void queries.refetchQueries(
    { type: 'active', predicate: (query) => query.state.fetchFailureCount > 0 },
    { cancelRefetch: true },
  )
})
