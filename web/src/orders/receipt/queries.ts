import { queryOptions } from '@tanstack/react-query'
import { answerOf, client } from '../../api/client.ts'

/** The signed statement about an approved order. Until its approval is sealed, it is asked for again. */
export function receiptQuery(id: string) {
  return queryOptions({
    queryKey: ['orders', 'receipt', id],
    queryFn: ({ signal }) =>
      answerOf(client.GET('/v1/orders/{id}/receipt', { params: { path: { id } }, signal })),
  })
}
