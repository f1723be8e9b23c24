import { queryOptions } from '@tanstack/react-query'
import { readReceipt, verifyReceipt } from '../../../../proof/receipt.ts'
import { answerOf, client } from '../../api/client.ts'

/** The signed statement about an approved order. Until its approval is sealed, it is requested again. */
export function receiptQuery(id: string) {
  return queryOptions({
    queryKey: ['orders', 'receipt', id],
    queryFn: ({ signal }) => answerOf(client.orders.receipt(id, { signal })),
  })
}

/** Whether the keys of the service verify the statement: null, or what is wrong with it. */
export function checkQuery(jws: string) {
  return queryOptions({
    queryKey: ['receipt-check', jws],
    queryFn: async ({ signal }) => {
      const keys = await answerOf(client.GET('/.well-known/jwks.json', { signal }))
      const checked = verifyReceipt(jws, keys, readReceipt(jws).statement.iss)
      return checked.then(
        () => null,
        (fault: Error) => fault.message,
      )
    },
  })
}

/** The outline of a QR code, in units of its dots. The library comes only when a certificate is shown. */
export function codeQuery(text: string) {
  return queryOptions({
    queryKey: ['qr-code', text],
    queryFn: async () => {
      const { encode } = await import('uqr')
      // The standard asks for a margin of four dots.
      const { data, size } = encode(text, { ecc: 'M', border: 4 })
      const rows = data.map((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')).join(''))
      return { path: rows.join(''), size }
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
}
