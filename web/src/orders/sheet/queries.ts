import { queryOptions } from '@tanstack/react-query'
import { answerOf, client } from '../../api/client.ts'
import { units } from '../../ui/format.ts'
import { repeatableFilter } from '../states.ts'

const [[, dayMilliseconds]] = units

/** The orders of the last day. It is not under `orders`, because each created order would fetch it again. */
export const recentQuery = queryOptions({
  queryKey: ['recent'],
  queryFn: async ({ signal }) => {
    const from = new Date(Date.now() - dayMilliseconds).toISOString()
    const query = { filter: `createdAtUtc >= "${from}" ${repeatableFilter}`, paginated: false }
    return (await answerOf(client.GET('/v1/orders', { params: { query }, signal }))).items
  },
  staleTime: 0,
  refetchOnWindowFocus: false,
  retry: false,
})
