import { QueryClient, type QueryKey } from '@tanstack/react-query'
import { isPassing, retryDelayMilliseconds } from './problem.ts'

/** What was fetched stays good for so long, unless something in this browser changes it. */
const freshMilliseconds = 15_000

/**
 * What the views fetched. A failure that passes is tried again until it does or its view goes away; the views show
 * `failureReason` meanwhile. Nothing is fetched by a timer: that would keep a session alive that nobody uses.
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
 * The `retry` of what is fetched ahead of the view that will want it: as ever once that view is there and waits for the
 * same fetch, and else not at all.
 */
export function retryWhileWanted(queryKey: QueryKey) {
  return (_tries: number, failure: unknown) =>
    isPassing(failure) && (queries.getQueryCache().find({ queryKey, exact: true })?.isActive() ?? false)
}

// Who waits for the next try need not wait any longer.
addEventListener('online', () => {
  void queries.refetchQueries(
    { type: 'active', predicate: (query) => query.state.fetchFailureCount > 0 },
    { cancelRefetch: true },
  )
})
