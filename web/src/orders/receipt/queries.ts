import { queryOptions } from '@tanstack/react-query'
import { readVerifierKey } from '../../../../proof/note.ts'
import { judgeReceipt } from '../../../../proof/verdict.ts'
import { answerOf, client } from '../../api/client.ts'
import { logKeys } from '../../api/log-keys.ts'

/** The signed statement about an approved order. Until its approval is sealed, it is requested again. */
export function receiptQuery(id: string) {
  return queryOptions({
    queryKey: ['orders', 'receipt', id],
    queryFn: ({ signal }) => answerOf(client.orders.receipt(id, { signal })),
  })
}

/** The order in the lines of a receipt, and whether the key of the log of this service stands behind them. */
export function judgementQuery(jws: string) {
  return queryOptions({
    queryKey: ['receipt-judgement', jws],
    queryFn: async () => judgeReceipt(jws, await Promise.all((await logKeys()).map(readVerifierKey))),
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
