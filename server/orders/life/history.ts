import type { Kysely } from '#kysely'
import { eventsOfKinds, listEvents } from '../../audit/audit.ts'
import { formatInstant } from '../../clock.ts'
import type { Database } from '../../db/tables.ts'
import { describePage, type PageDescription, type PageRequest } from '../../http/paging.ts'
import { Problem } from '../../http/problems.ts'
import type { Principal } from '../../principal.ts'
import { type OrderEventKind, transitions } from '../order.ts'
import { refusalOf } from './life.ts'
import { findDecision } from './store.ts'

export interface OrderEvent {
  id: string
  kind: string
  version: number
  atUtc: string
  atTimeZone: string | null
  by: string
  byId: number | null
  text: string | null
  sequence: number | null
  hash: string | null
}

const subjectOf = (id: string) => ({ kind: 'order', id }) as const

/** Throws `order-not-found`. */
export async function readHistory(
  db: Kysely<Database>,
  id: string,
  request: PageRequest,
  direction: 'asc' | 'desc',
): Promise<PageDescription & { items: OrderEvent[] }> {
  const page = { direction, offset: request.offset, limit: request.pageSize }
  const { events, totalCount } = await listEvents(db, subjectOf(id), page)
  if (totalCount === 0 && (await findDecision(db, id, null)) === undefined) {
    throw new Problem('order-not-found')
  }
  const items = events.map((event) => ({
    id: event.id,
    kind: event.kind,
    version: event.version ?? 1,
    atUtc: formatInstant(event.at),
    atTimeZone: event.at_time_zone,
    by: event.by_name,
    byId: event.by_id,
    text: event.text,
    sequence: event.sequence,
    hash: event.hash,
  }))
  return { items, ...describePage(totalCount, request) }
}

export interface Approval {
  by: string
  byId: number | null
  atUtc: string
}

export const approvalKinds: readonly OrderEventKind[] = ['approval-given', transitions.approve.event]

/** The approval that an event records. */
export function approvalOf(event: { by_name: string; by_id: number | null; at: number }): Approval {
  return { by: event.by_name, byId: event.by_id, atUtc: formatInstant(event.at) }
}

export interface Approvals {
  required: number
  given: Approval[]
  selfApproval: boolean
  mayApprove: boolean
  /** Code of the problem that an approval by the caller would get. */
  reason: string | null
}

/** Throws `order-not-found`. */
export async function readApprovals(db: Kysely<Database>, id: string, caller: Principal): Promise<Approvals> {
  const order = await findDecision(db, id, caller.id)
  if (order === undefined) throw new Problem('order-not-found')
  const asked = { byId: caller.id, isService: caller.kind === 'client' }
  const reason = caller.permissions.has(transitions.approve.permission)
    ? refusalOf('approve', order, asked)
    : 'permission-denied'
  return {
    required: order.approvalsNeeded,
    given: (await eventsOfKinds(db, subjectOf(id), approvalKinds)).map(approvalOf),
    selfApproval: order.selfApproval,
    mayApprove: reason === undefined,
    reason: reason ?? null,
  }
}
