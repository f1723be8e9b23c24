import type { EventKind } from '../audit/audit.ts'
import type { Permission } from '../caller/permissions.ts'
import type { Database } from '../db/tables.ts'
import type { readableStatuses } from '../db/tables-of-both.ts'

/** `EOrderStatus`: numbers are only ever appended, never renumbered. */
export const orderStatus = {
  Pending: 0,
  Approved: 1,
  Rejected: 2,
  Withdrawn: 3,
} as const satisfies typeof readableStatuses
export type OrderStatusName = keyof typeof orderStatus
export type OrderStatus = (typeof orderStatus)[OrderStatusName]
export const orderStatusNames = Object.keys(orderStatus) as OrderStatusName[]

export function nameOfStatus(status: OrderStatus): string {
  return orderStatusNames.find((name) => orderStatus[name] === status) ?? String(status)
}

export type OrderEventKind = EventKind<'order'>

/** The states in which another order can replace an order: no transition leaves them. */
export const replaceable: readonly OrderStatus[] = [orderStatus.Rejected, orderStatus.Withdrawn]

export const firstStatus = orderStatus.Pending

interface TransitionFacts {
  from: readonly OrderStatus[]
  to: OrderStatus
  event: OrderEventKind
  permission: Permission
  /** Who may make the transition, given the permission. The policy of an order restricts its approvers. */
  by: 'anyone' | 'creator' | 'approver'
  /** A deputy may make a decision in the place of an absent person, and a passkey may sign it. */
  isDecision: boolean
}

/** Every way in which an order moves from one state to another. */
export const transitions = {
  approve: {
    from: [orderStatus.Pending],
    to: orderStatus.Approved,
    event: 'approved',
    permission: 'Orders.Approve',
    by: 'approver',
    isDecision: true,
  },
  reject: {
    from: [orderStatus.Pending],
    to: orderStatus.Rejected,
    event: 'rejected',
    permission: 'Orders.Approve',
    by: 'anyone',
    isDecision: true,
  },
  withdraw: {
    from: [orderStatus.Pending],
    to: orderStatus.Withdrawn,
    event: 'withdrawn',
    permission: 'Orders.Create',
    by: 'creator',
    isDecision: false,
  },
} as const satisfies Record<string, TransitionFacts>
export type TransitionName = keyof typeof transitions
export type Transition = (typeof transitions)[TransitionName]

export type DecisionName = {
  [Name in TransitionName]: (typeof transitions)[Name]['isDecision'] extends true ? Name : never
}[TransitionName]
export const isDecision = (name: TransitionName): name is DecisionName => transitions[name].isDecision

export type LeftStatus = Transition['from'][number]

/** The one state in which an order waits for approval. */
export const [awaitingApproval]: readonly [OrderStatus] = transitions.approve.from

/** The state of an order after an event; null for an event that leaves the order as it is. */
export const statusAfter: Record<OrderEventKind, OrderStatus | null> = {
  created: firstStatus,
  'approval-given': awaitingApproval,
  noted: null,
  'document-added': null,
  'document-removed': null,
  'document-erased': null,
  ...(Object.fromEntries(Object.values(transitions).map(({ event, to }) => [event, to])) as {
    [Each in Transition as Each['event']]: Each['to']
  }),
}

/** Totals are exact decimals: integer ten-thousandths, at most 99,999,999,999.9999. */
export const totalLimitE4 = 999_999_999_999_999

/**
 * What a field holds, and so how it is stored, compared and sent: `total` is integer ten-thousandths and sent
 * as a decimal, `instant` milliseconds since 1970 UTC and sent as RFC 3339.
 */
export type FieldKind = 'id' | 'text' | 'total' | 'status' | 'instant'
export type ColumnKind = FieldKind | 'number' | 'count' | 'names' | 'flag'

/** An index of the orders by a column, with ties broken by id. Each serves both directions. */
export type OrderIndex =
  | 'orders_by_id'
  | 'orders_by_status'
  | 'orders_by_customer'
  | 'orders_by_total'
  | 'orders_by_updated_at'

interface FieldFacts {
  column: keyof Database['orders']
  kind: FieldKind
  nullable: boolean
  /** Whether lists show it by default. */
  inSummary: boolean
  /** How a list is sorted by this field; undefined if it cannot be. */
  sort?: { column: keyof Database['orders']; index: OrderIndex }
  description: string
  example: string | number
}

/** Ids are UUIDv7 of the instant of creation: their order is the order of creation. */
const byCreation = { column: 'id', index: 'orders_by_id' } as const

/**
 * Every field of Order under its name on the wire, in the order of the contract. A list can be filtered by
 * each.
 */
export const orderFields = {
  id: {
    column: 'id',
    kind: 'id',
    nullable: false,
    inSummary: true,
    sort: byCreation,
    description: 'UUIDv7, lower case.',
    example: '019a9d2e-5b7c-7f3a-9c41-6d2f8e0b1a57',
  },
  customer: {
    column: 'customer',
    kind: 'text',
    nullable: false,
    inSummary: true,
    sort: { column: 'customer_folded', index: 'orders_by_customer' },
    description: 'The customer.',
    example: 'Müller & Söhne GmbH',
  },
  total: {
    column: 'total_e4',
    kind: 'total',
    nullable: false,
    inSummary: true,
    sort: { column: 'total_e4', index: 'orders_by_total' },
    description: 'Amount with up to 4 decimal places; always sent as a JSON number.',
    example: 1250.5,
  },
  status: {
    column: 'status',
    kind: 'status',
    nullable: false,
    inSummary: true,
    sort: { column: 'status', index: 'orders_by_status' },
    description: `${orderStatusNames.map((name) => `${name} = ${orderStatus[name]}`).join(', ')}. Values are only ever appended.`,
    example: orderStatus.Pending,
  },
  createdAtUtc: {
    column: 'created_at',
    kind: 'instant',
    nullable: false,
    inSummary: true,
    sort: byCreation,
    description: 'When the order was created.',
    example: '2026-11-20T09:30:00.000Z',
  },
  createdAtTimeZone: {
    column: 'created_at_time_zone',
    kind: 'text',
    nullable: true,
    inSummary: false,
    description: 'IANA time zone in which it was created.',
    example: 'Europe/Berlin',
  },
  updatedAtUtc: {
    column: 'updated_at',
    kind: 'instant',
    nullable: true,
    inSummary: false,
    sort: { column: 'updated_at', index: 'orders_by_updated_at' },
    description: 'When the order last changed; null if it never did.',
    example: '2026-11-20T10:00:00.000Z',
  },
  updatedAtTimeZone: {
    column: 'updated_at_time_zone',
    kind: 'text',
    nullable: true,
    inSummary: false,
    description: 'IANA time zone of the last change; null if there was none.',
    example: 'Europe/Berlin',
  },
  createdBy: {
    column: 'created_by',
    kind: 'text',
    nullable: true,
    inSummary: false,
    description: 'User name of the creator.',
    example: 'operator',
  },
  modifiedBy: {
    column: 'modified_by',
    kind: 'text',
    nullable: true,
    inSummary: false,
    description: 'User name of the account that made the last change; null if there was none.',
    example: 'admin',
  },
} as const satisfies Record<string, FieldFacts>

interface FurtherFacts {
  kind: ColumnKind
  nullable: boolean
  /** SQL over the columns of `orders`, the same on both engines. */
  expression: string
  description: string
}

/** When a pending order was last approved, or else created: nothing else changes one that has an approval. */
const lastApproval = 'case approvals_given when 0 then created_at else updated_at end'

/** Further columns that a list can show and be filtered by. */
export const furtherColumns = {
  number: {
    kind: 'number',
    nullable: false,
    expression: 'number',
    description:
      'A short number that people can say, such as #1042: by sequence, with gaps, and never changed.',
  },
  approvedBy: {
    kind: 'names',
    nullable: true,
    expression: 'approved_by',
    description:
      'User names of those who approved, first to last, as in `ann, bo for cy`; null if nobody has.',
  },
  approvalsGiven: {
    kind: 'count',
    nullable: false,
    expression: 'approvals_given',
    description: 'How many approvals were given.',
  },
  approvalsMissing: {
    kind: 'count',
    nullable: false,
    expression: `case status when ${awaitingApproval} then approvals_needed - approvals_given else 0 end`,
    description: 'How many approvals are still needed; 0 unless the order is pending.',
  },
  waitingSince: {
    kind: 'instant',
    nullable: true,
    expression: `case status when ${awaitingApproval} then ${lastApproval} end`,
    description:
      'Since when it has waited for the next approval: its last approval, or its creation; null unless it is pending.',
  },
  replaces: {
    kind: 'id',
    nullable: true,
    expression: 'replaces',
    description: 'Id of the rejected or withdrawn order that it replaces; null if there is none.',
  },
  replacedBy: {
    kind: 'id',
    nullable: true,
    expression: 'replaced_by',
    description: 'Id of the order that replaces it; null if none does.',
  },
  version: {
    kind: 'count',
    nullable: false,
    expression: 'version',
    description: 'Row version: the number in its entity tag.',
  },
  documents: {
    kind: 'count',
    nullable: false,
    expression: '(select count(*) from order_documents where order_id = orders.id)',
    description: 'How many documents it has, at its row version.',
  },
  passkey: {
    kind: 'flag',
    nullable: false,
    expression: '(passkey_needed = 1)',
    description: 'Whether each approval must be signed with a passkey.',
  },
  mayApprove: {
    kind: 'flag',
    nullable: false,
    // For a reader, see `expressionOf`.
    expression: 'false',
    description: 'Whether you may approve it now, as in `waits:me`.',
  },
} as const satisfies Record<string, FurtherFacts>

type Fields = typeof orderFields
type Columns = Fields & typeof furtherColumns
export type FieldName = keyof Fields
export type SortKey = { [Name in FieldName]: Fields[Name] extends { sort: object } ? Name : never }[FieldName]
type SummaryName = { [Name in FieldName]: Fields[Name]['inSummary'] extends true ? Name : never }[FieldName]

export const fieldNames = Object.keys(orderFields) as FieldName[]
export const summaryNames = fieldNames.filter((name): name is SummaryName => orderFields[name].inSummary)
/** Everything that a list can show of an order. */
export type ColumnName = FieldName | keyof typeof furtherColumns
export const columnNames = [...fieldNames, ...Object.keys(furtherColumns)] as ColumnName[]

type ColumnFacts = Omit<FurtherFacts, 'description'> & Pick<FieldFacts, 'sort'>
const columnFacts: Record<string, ColumnFacts> = {
  ...Object.fromEntries(
    fieldNames.map((name) => [name, { ...orderFields[name], expression: orderFields[name].column }]),
  ),
  ...furtherColumns,
}

/** The kind of a column, its SQL, and how a list is sorted by it. */
export function columnOf<Name extends ColumnName>(name: Name): ColumnFacts & Pick<Columns[Name], 'kind'> {
  return columnFacts[name] as ReturnType<typeof columnOf<Name>>
}
export const sortKeys = fieldNames.filter((name): name is SortKey => 'sort' in orderFields[name])

/** An order with the names of the wire and the values of the table. */
export type Order = {
  [Name in FieldName]: Fields[Name]['kind'] extends 'status'
    ? OrderStatus
    : Database['orders'][Fields[Name]['column']]
}
export type OrderSummary = Pick<Order, SummaryName>

/**
 * The columns of an order that are known when it is created: those of its fields, and what search, sorting
 * and the rules for its creator need. The approval policy adds more.
 */
export const orderColumns = [
  ...fieldNames.map((name) => orderFields[name].column),
  'customer_folded',
  'created_by_id',
  'version',
  'replaces',
] as const satisfies (keyof Database['orders'])[]

/** Ten-thousandths as the decimal that an event holds: `1250.5`. */
export function decimalOf(totalE4: number): `${number}` {
  const parts = String(totalE4 % 10_000)
    .padStart(4, '0')
    .replace(/0+$/, '')
  const units = Math.floor(totalE4 / 10_000)
  return parts === '' ? `${units}` : (`${units}.${parts}` as `${number}`)
}
