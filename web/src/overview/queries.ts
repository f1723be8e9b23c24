import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { answerOf, client } from '../api/client.ts'

export function overviewQuery(days: number) {
  return queryOptions({
    // Under the orders: what changes one of them changes this.
    queryKey: ['orders', 'overview', days],
    queryFn: ({ signal }) =>
      answerOf(client.GET('/v1/orders/summary', { params: { query: { days } }, signal })),
    placeholderData: keepPreviousData,
  })
}
