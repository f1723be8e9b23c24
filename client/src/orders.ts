import { type Calls, type Exchange, ifUnchanged } from './calls.ts'
import { type Batch, type FollowOptions, follow } from './changes.ts'
import { linesOf } from './lines.ts'
import type { components, operations } from './schema.ts'

type Schemas = components['schemas']
type OrderQuery = NonNullable<operations['listOrders']['parameters']['query']>

/** How a change is made. */
export interface ChangeOptions {
  /** Makes the change only if this, which was read before, is unchanged; or throws `precondition-failed`. */
  ifUnchanged?: Pick<Exchange<unknown>, 'etag'>
  /** The change is made once, however often it is sent. By default each call gets its own key. */
  idempotencyKey?: string | undefined
  /** IANA name. By default the time zone of the account. */
  timeZone?: string | undefined
  /** Approve and reject take a value of `signDecisions`. */
  signature?: string
  signal?: AbortSignal
  /** Continues after its page is closed: see `Calls`. */
  keepalive?: boolean
}

type Changed = Promise<Exchange<undefined>>
type Reading = { signal?: AbortSignal }

/** The operations on orders by name. Passing failures are retried: see `Connection`. */
export interface Orders {
  create(
    order: Schemas['CreateOrderCommand'],
    options?: ChangeOptions,
  ): Promise<Exchange<Schemas['CreateOrderResponse']>>
  get(id: string, reading?: Reading): Promise<Exchange<Schemas['Order']>>
  list(query?: OrderQuery, reading?: Reading): Promise<Exchange<Schemas['PaginatedListOfOrderSummary']>>
  /** Every order that matches when its turn comes, once: see `Client.each`. */
  each(query?: OrderQuery, reading?: Reading): AsyncGenerator<Schemas['OrderSummary'], void>
  /** Every match, as a stream that goes on after the last order. Throws `NoAnswerError` if it breaks off. */
  export(query?: OrderQuery, reading?: Reading): AsyncGenerator<Schemas['OrderSummary'], void>
  /** Changes of orders from now on. It resumes after a lost connection, until the signal aborts. */
  follow(options?: FollowOptions): AsyncGenerator<Batch, void>
  /**
   * Pass `ifUnchanged`, with the order as it was read before its documents. Otherwise the approval is about
   * the documents that the order has when it arrives. Throws `order-not-pending`, `self-approval`,
   * `service-approval`, `already-approved-by-you`, `role-needed`, `passkey-needed`,
   * `decision-signature-invalid`.
   */
  approve(id: string, options?: ChangeOptions): Changed
  /**
   * The statements to sign, for `signDecisions`. Throws what the first decision that is refused would throw.
   */
  prepareDecisions(
    wanted: Schemas['PrepareDecisionsCommand'],
    reading?: Reading,
  ): Promise<Exchange<Schemas['PreparedDecisions']>>
  reject(id: string, reason: string, options?: ChangeOptions): Changed
  /** Throws `not-the-creator` for anyone else. */
  withdraw(id: string, reason?: string, options?: ChangeOptions): Changed
  note(id: string, text: string, options?: ChangeOptions): Promise<Exchange<Schemas['AddNoteResponse']>>
  /**
   * Adds a document, a `File` of a form for example, of at most 5 MiB. Throws `not-the-creator`,
   * `order-not-pending`, `already-approved`, `too-many-documents`.
   */
  addDocument(
    id: string,
    document: { name: string; bytes: Blob },
    options?: ChangeOptions,
  ): Promise<Exchange<Schemas['AddDocumentResponse']>>
  /** Throws what `addDocument` throws. */
  removeDocument(id: string, documentId: string, options?: ChangeOptions): Changed
  documents(id: string, reading?: Reading): AsyncGenerator<Schemas['OrderDocument'], void>
  /** The bytes of a document. */
  document(id: string, documentId: string, reading?: Reading): Promise<Blob>
  /** Every event of the order, oldest first. */
  history(id: string, reading?: Reading): AsyncGenerator<Schemas['OrderEvent'], void>
  approvals(id: string, reading?: Reading): Promise<Exchange<Schemas['OrderApprovals']>>
  /** For `judgeReceipt`. */
  receipt(id: string, reading?: Reading): Promise<Exchange<Schemas['OrderReceipt']>>
}

export function ordersOf({ GET, POST, PATCH, DELETE, each, export: exportList }: Calls): Orders {
  const one = (id: string, reading: Reading = {}) => ({ params: { path: { id } }, ...reading })
  const change = (id: string, options: ChangeOptions = {}) => {
    const { idempotencyKey = crypto.randomUUID(), timeZone, signature, ifUnchanged: read, ...rest } = options
    const header = {
      'Idempotency-Key': idempotencyKey,
      ...(timeZone !== undefined && { 'Time-Zone': timeZone }),
      ...(signature !== undefined && { 'Decision-Signature': signature }),
      ...(read && ifUnchanged(read)),
    }
    return { params: { path: { id }, header }, ...rest }
  }
  return {
    create: (body, options) => POST('/v1/orders', { ...change('', options), body }),
    get: (id, reading) => GET('/v1/orders/{id}', one(id, reading)),
    list: (query = {}, reading) => GET('/v1/orders', { params: { query }, ...reading }),
    each: (query = {}, reading) => each('/v1/orders', { params: { query }, ...reading }),
    async *export(query = {}, reading) {
      const whole = await exportList('/v1/orders', 'application/jsonl', { params: { query }, ...reading })
      for await (const lines of linesOf(whole)) yield* lines.map((line) => JSON.parse(line))
    },
    follow: (options = {}) =>
      follow((place, signal) => {
        const headers = place === undefined ? {} : { 'last-event-id': place }
        return exportList('/v1/orders/events', 'text/event-stream', { headers, signal })
      }, options),
    approve: (id, options) => PATCH('/v1/orders/{id}/approve', change(id, options)),
    prepareDecisions: (body, reading) => POST('/v1/orders/decisions', { body, ...reading }),
    reject: (id, reason, options) =>
      PATCH('/v1/orders/{id}/reject', { ...change(id, options), body: { reason } }),
    withdraw: (id, reason, options) =>
      PATCH('/v1/orders/{id}/withdraw', {
        ...change(id, options),
        ...(reason && { body: { reason } }),
      }),
    note: (id, text, options) => POST('/v1/orders/{id}/notes', { ...change(id, options), body: { text } }),
    addDocument: (id, { name, bytes: body }, options) => {
      const { params, ...rest } = change(id, options)
      return POST('/v1/orders/{id}/documents', { params: { ...params, query: { name } }, ...rest, body })
    },
    removeDocument: (id, documentId, options) => {
      const { params, ...rest } = change(id, options)
      const path = { id, documentId }
      return DELETE('/v1/orders/{id}/documents/{documentId}', { params: { ...params, path }, ...rest })
    },
    documents: (id, reading) => each('/v1/orders/{id}/documents', one(id, reading)),
    async document(id, documentId, reading = {}) {
      const init = { params: { path: { id, documentId } }, ...reading }
      const form = 'application/octet-stream'
      return (await exportList('/v1/orders/{id}/documents/{documentId}', form, init)).blob()
    },
    history: (id, reading) => each('/v1/orders/{id}/history', one(id, reading)),
    approvals: (id, reading) => GET('/v1/orders/{id}/approvals', one(id, reading)),
    receipt: (id, reading) => GET('/v1/orders/{id}/receipt', one(id, reading)),
  }
}
