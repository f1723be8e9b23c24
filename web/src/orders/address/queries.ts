import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { answerOf, client } from '../../api/client.ts'
import { askedOf } from '../filter/days.ts'
import { type ListSearch, parametersOf } from './address.ts'

export function listQuery(search: ListSearch) {
  const query = parametersOf(search)
  return queryOptions({
    queryKey: ['orders', 'list', query],
    queryFn: ({ signal, meta }) => answerOf(client.GET('/v1/orders', { params: { query }, signal, ...meta })),
    // The page before stays in sight while the next one loads.
    placeholderData: keepPreviousData,
  })
}

/**
 * How many orders the search finds, with the person's days as in the list. `turn` makes each question a new
 * query.
 */
export function countQuery(filter: string, turn = 0) {
  return queryOptions({
    queryKey: ['orders', 'count', filter, turn],
    queryFn: async ({ signal }): Promise<number> => {
      const query = { filter: askedOf(filter).text, pageSize: 1 }
      return (await answerOf(client.GET('/v1/orders', { params: { query }, signal }))).totalCount ?? 0
    },
    retry: false,
  })
}
