import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { answerOf, client } from '../api/client.ts'
import { useMay } from '../auth/session.ts'
import { alwaysAsked } from '../orders/address/columns.ts'
import { quoteValue } from '../orders/filter/text.ts'
import { numberOf } from '../orders/identity.ts'
import type { ListedOrder } from '../orders/order.ts'
import { shownAs } from '../orders/states.ts'
import { useCalm } from '../ui/calm.ts'
import { formatOrders, formatTotal, shortName } from '../ui/format.ts'
import type { Entry } from './matching.ts'

/** The service has an index for three letters or more. For fewer it would look at every order. */
const leastLetters = 3
const mostLetters = 100
const mostWords = 5
const shownOrders = 6
export const calmMilliseconds = 200

export interface Found {
  entries: Entry[]
  state: 'none' | 'searching' | 'done' | 'failed'
}

const isNumber = (word: string) => /^#\d+$/.test(word)

/**
 * Finds orders by words of the customer, by number or by the start of the id; undefined if the text is too
 * short.
 */
export function filterFor(text: string): string | undefined {
  const words = text.slice(0, mostLetters).trim().split(/\s+/).slice(0, mostWords)
  const isShort = words.join('').length < leastLetters && !words.some(isNumber)
  return isShort ? undefined : words.map(quoteValue).join(' ')
}

function foundQuery(filter: string) {
  return queryOptions({
    queryKey: ['orders', 'found', filter],
    queryFn: ({ signal }) => {
      const query = { filter, pageSize: shownOrders, columns: alwaysAsked }
      return answerOf(client.GET('/v1/orders', { params: { query }, signal }))
    },
    retry: false,
    placeholderData: keepPreviousData,
  })
}

/** The orders that the text finds once typing has stopped, and a link to all of them. */
export function useFoundOrders(text: string): Found {
  const navigate = useNavigate()
  const mayRead = useMay('Orders.Read')
  const filter = mayRead ? filterFor(text) : undefined
  const calm = useCalm(filter, calmMilliseconds)
  const query = useQuery({ ...foundQuery(calm ?? ''), enabled: calm !== undefined && calm === filter })
  if (filter === undefined) return { entries: [], state: 'none' }
  const isOfText = calm === filter && !query.isPlaceholderData
  const page = isOfText ? query.data : undefined
  const orders = (page?.items ?? []).map(
    ({ id, customer, total, status, ...order }: ListedOrder): Entry => ({
      id,
      group: 'Orders',
      name: shortName(customer),
      hint: `${numberOf(order)} · ${formatTotal(total)} · ${shownAs(status).word}`,
      run: () => void navigate({ to: '/orders/$id', params: { id } }),
    }),
  )
  const all: Entry = {
    id: 'all-orders',
    group: 'Orders',
    name: page ? `All ${formatOrders(page.totalCount ?? 0)} that match` : 'Search the orders for this',
    run: () => void navigate({ to: '/orders', search: { filter } }),
  }
  if (page) return { entries: orders.length === 0 ? [] : [...orders, all], state: 'done' }
  return { entries: [all], state: isOfText && query.isError ? 'failed' : 'searching' }
}
