import type { ChangeOptions } from '../../../../client/src/orders.ts'
import { ownTimeZone } from '../../ui/format.ts'

/** A person's decision about an order. */
export interface Decision {
  id: string
  /** The version that the person saw. */
  etag: string
  reason?: string
  /** Of a passkey, as `signDecisions` makes it. */
  signature?: string
  idempotencyKey: string
}

/** How it is sent: the request continues when its page goes away. */
export function changeOf({ etag, idempotencyKey, signature }: Decision): ChangeOptions {
  return {
    ...{ idempotencyKey, timeZone: ownTimeZone, keepalive: true },
    ifUnchanged: { etag },
    ...(signature && { signature }),
  }
}
