import { type FetchQueryOptions, QueryClient, type QueryKey } from '@tanstack/react-query'
import { inBackground } from './client.ts'
import { isPassing, retryDelayMilliseconds } from './problem.ts'

/** Fetched data stays fresh this long, unless this browser changes it. */
const freshMilliseconds = 15_000

/**
 * Invalidates answers that are on their way, too: they may lack the change. The library would take them for
 * fresh, except those it cancels, which are of a view that has shown an earlier one.
 */
class Queries extends QueryClient {
  override async invalidateQueries(...[filters, options]: Parameters<QueryClient['invalidateQueries']>) {
    const late = this.getQueryCache()
      .findAll({ ...filters, fetchStatus: 'fetching' })
      .filter((query) => query.state.data === undefined || !query.isActive())
      .map(({ promise, queryKey }) =>
        promise?.then(
          // One more answer is enough for all changes that the first one may lack.
          () => super.invalidateQueries({ queryKey, exact: true }, { ...options, cancelRefetch: false }),
          () => undefined,
        ),
      )
    await super.invalidateQueries(filters, options)
    await Promise.all(late)
  }
}

/**
 * The data that the views fetched. A passing failure is retried until it passes or its view goes away; until
 * then the views show `failureReason`. Only what the service does by itself is fetched by a timer: it seals
 * events, and sends them to webhooks.
 */
export const queries = new Queries({
  defaultOptions: {
    queries: {
      staleTime: freshMilliseconds,
      // navigator.onLine is often wrong.
      networkMode: 'always',
      retry: (_tries, failure) => isPassing(failure),
      retryDelay: retryDelayMilliseconds,
      // Handled below, but only for queries that someone is waiting for.
      refetchOnReconnect: false,
    },
    mutations: {
      networkMode: 'always',
      retry: false,
    },
  },
})

/**
 * Fetches data before the view that will need it, in a request that the app makes by itself. After a failure,
 * it tries again only once that view is waiting.
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
    /** Options of a fetch besides its parameters. */
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
