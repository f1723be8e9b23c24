import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { answerOf, client } from '../../api/client.ts'
import { askedOf } from '../filter/days.ts'
import { mineFilter, waitingFilter } from '../states.ts'
import { type ListSearch, parametersOf } from './address.ts'
import { alwaysAsked } from './columns.ts'

/** The rows of orders that the person may approve have a checkbox. Some approvals must be signed. */
const withBoxes = (columns: string) => `${columns},mayApprove,passkey,version,documents`
/** Columns that a usual list asks for besides summaries. */
export const usuallyAsked = withBoxes(alwaysAsked)

export function listQuery(search: ListSearch) {
  const { columns, ...others } = parametersOf(search)
  const query = { ...others, columns: withBoxes(columns) }
  return queryOptions({
    queryKey: ['orders', 'list', query],
    queryFn: async ({ signal, meta }) => {
      const { data, response } = await client.GET('/v1/orders', { params: { query }, signal, ...meta })
      return { ...data, place: response.headers.get('last-event-id') }
    },
    // The previous page stays in sight while the next one loads.
    placeholderData: keepPreviousData,
  })
}

/** Orders that wait for the person, and for anybody, oldest first. */
export const mineOldestFirst = { filter: mineFilter, orderBy: 'createdAtUtc' } as const
export const waitingOldestFirst = { filter: waitingFilter, orderBy: 'createdAtUtc' } as const

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
