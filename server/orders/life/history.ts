import { erasedIn, valueIn } from '../../../proof/line.ts'
import { eventsOfKinds, toldBy } from '../../audit/audit.ts'
import type { Person, Principal } from '../../caller/principal.ts'
import { formatInstant } from '../../clock.ts'
import { type AppDatabase, pageLimitMilliseconds } from '../../db/port.ts'
import type { Db, EventColumns } from '../../db/tables.ts'
import { describePage, type PageDescription, type PageRequest } from '../../http/paging.ts'
import { Problem } from '../../problems/problems.ts'
import { rightsOf } from '../conditions.ts'
import { type OrderEventKind, transitions } from '../order.ts'
import { findOrder } from '../store.ts'
import { findDecision } from './store.ts'

/** The document that an event is about. */
export interface EventDocument {
  id: string
  /** Null if it was erased. */
  name: string | null
  mediaType: string
  size: number
  sha256: string
}

export interface OrderEvent {
  id: string
  kind: string
  version: number
  atUtc: string
  atTimeZone: string | null
  /** `person-` and a number if the name was erased. */
  by: string
  /** As it was printed next to the user name; null for none, or if it was erased. */
  byName: string | null
  byId: number | null
  for: string | null
  forName: string | null
  forId: number | null
  text: string | null
  document: EventDocument | null
  /** The names in `clear` whose values were erased. */
  erased: string[]
  sequence: number | null
  hash: string | null
}

const subjectOf = (id: string) => ({ kind: 'order', id }) as const

/** Throws `order-not-found`, `QueryTooSlow`, `TooManyWaiting`. */
export async function readHistory(
  db: AppDatabase,
  id: string,
  { direction, ...request }: PageRequest & { direction: 'asc' | 'desc' },
  caller: string,
): Promise<PageDescription & { items: OrderEvent[] }> {
  const { events, totalCount } = await db.query(
    'findEventsOf',
    { subject: subjectOf(id), direction, offset: request.offset, limit: request.pageSize },
    { limitMilliseconds: pageLimitMilliseconds, caller },
  )
  if (totalCount === 0 && (await findOrder(db.read, id)) === undefined) {
    throw new Problem('order-not-found')
  }
  const items = events.map((event) => {
    const { clear, ...told } = toldBy(event)
    return {
      id: event.id,
      kind: event.kind,
      version: event.version ?? 1,
      atUtc: formatInstant(event.at),
      atTimeZone: event.at_time_zone,
      ...told,
      byId: event.by_id,
      forId: event.for_id,
      document: documentOf(event),
      erased: erasedIn({ clear }),
      sequence: event.sequence,
      hash: event.hash,
    }
  })
  return { items, ...describePage(totalCount, request) }
}

function documentOf({ data, clear }: Pick<EventColumns, 'data' | 'clear'>): EventDocument | null {
  const { document }: { document?: Omit<EventDocument, 'name'> } = JSON.parse(data)
  return document ? { ...document, name: valueIn({ clear: JSON.parse(clear) }, 'documentName') } : null
}

export interface Approval {
  by: string
  byName: string | null
  byId: number | null
  atUtc: string
  /** The absent person in whose place it was given. */
  for: string | null
  forName: string | null
  forId: number | null
  /** Whether the log has the approver's signature. */
  signed: boolean
}

export const approvalKinds: readonly OrderEventKind[] = ['approval-given', transitions.approve.event]

/** The approval that an event records. */
export function approvalOf(
  event: Pick<EventColumns, 'by_id' | 'at' | 'for_id' | 'data' | 'clear'>,
): Approval {
  const { by, byName, for: absent, forName } = toldBy(event)
  return {
    ...{ by, byName },
    byId: event.by_id,
    atUtc: formatInstant(event.at),
    ...{ for: absent, forName },
    forId: event.for_id,
    signed: 'signature' in JSON.parse(event.data),
  }
}

export interface Approvals {
  /** The number of the order. */
  number: number
  /** The clientId of the service that created it; null if a person did. */
  proposedBy: string | null
  replaces: string | null
  replacedBy: string | null
  required: number
  given: Approval[]
  selfApproval: boolean
  services: boolean
  role: string | null
  passkey: boolean
  mayApprove: boolean
  /** The absent person in whose place the caller would approve. */
  mayApproveFor: Person | null
  /** Code of the problem that an approval by the caller would get. */
  reason: string | null
}

/** Throws `order-not-found`. */
export async function readApprovals(
  db: Db,
  id: string,
  caller: Principal,
  nowMilliseconds: number,
): Promise<Approvals> {
  const rights = await rightsOf(db, 'approve', caller, nowMilliseconds)
  const none = { byId: caller.id, isService: caller.kind === 'client' }
  const askings = rights.length > 0 ? rights : [none]
  const decisions = await Promise.all(askings.map((asking) => findDecision(db, id, 'approve', asking)))
  const [first] = decisions
  if (first === undefined) throw new Problem('order-not-found')
  const index = rights.findIndex((_, each) => decisions[each]?.refusal === undefined)
  const absent = rights[index]?.for
  const refusal = rights.length > 0 ? first.refusal : 'permission-denied'
  return {
    number: first.number,
    proposedBy: first.proposedBy,
    replaces: first.replaces,
    replacedBy: first.replacedBy,
    required: first.rules.approvals,
    given: (await eventsOfKinds(db, subjectOf(id), approvalKinds)).map(approvalOf),
    selfApproval: first.rules.selfApproval,
    services: first.rules.services,
    role: first.rules.role,
    passkey: first.rules.passkey,
    mayApprove: index >= 0,
    mayApproveFor: absent ? { id: absent.id, name: absent.name } : null,
    reason: index >= 0 ? null : (refusal ?? null),
  }
}
