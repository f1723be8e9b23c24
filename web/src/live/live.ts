import type { Query } from '@tanstack/react-query'
import { useEffect } from 'react'
import { firstState } from '../../../client/src/facts.ts'
import { answerOf, client } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { currentSession, ofThisPerson, onForget, useMay } from '../auth/session.ts'
import type { parametersOf } from '../orders/address/address.ts'
import { countQuery } from '../orders/address/queries.ts'
import { arrive, listAsked, listLoaded } from '../orders/arrivals.ts'
import { focusRow, rowIdOf } from '../orders/list/rows.ts'
import type { OrderSummary, VersionedOrder } from '../orders/order.ts'
import { orderQuery, partsOfOne } from '../orders/queries.ts'
import { leadsTo, nameOf, words } from '../orders/states.ts'
import { announce } from '../ui/announce.ts'
import { isolated } from '../ui/isolate.ts'
import { waiting } from '../ui/page-title.tsx'
import { type Batch, type Change, followOrders } from './stream.ts'

/** One connection serves all tabs of a browser: the tab that holds the lock reads and passes it on. */
const name = 'countersign-live'
const channel = new BroadcastChannel(name)
/** Figures follow no faster than this, however much happens. */
const figuresMilliseconds = 3_000
/** The place in the log that this tab has reached, in case it is the next to read. */
let place: string | undefined

/**
 * Shows what others do while someone who may read orders is signed in. Without Web Locks, or without the
 * connection, the app just works without it.
 */
export function useLive(): void {
  const mayRead = useMay('Orders.Read')
  useEffect(() => {
    if (!mayRead || !navigator.locks) return undefined
    const leaving = new AbortController()
    const { signal } = leaving
    const hear = ({ data }: MessageEvent<Batch>) => take(data)
    channel.addEventListener('message', hear)
    const read = () =>
      followOrders(
        place,
        (batch) => {
          channel.postMessage(batch)
          take(batch)
        },
        signal,
      )
    // Rejects when this tab leaves before its turn.
    navigator.locks.request(name, { signal }, read).catch(() => undefined)
    refreshFigures()
    return () => {
      leaving.abort()
      channel.removeEventListener('message', hear)
    }
  }, [mayRead])
}

onForget(() => {
  place = undefined
  waiting.set(0)
})

function take(batch: Batch): void {
  place = batch.place
  if (batch.changes.length === 0) return
  const focused = rowIdOf(document.activeElement)
  const listsUnderWay = underWay(['orders', 'list'])
  changeLists(batch.changes)
  for (const list of listsUnderWay) void settled(list).then(() => changeLists(batch.changes))
  // The checkbox of a decided order disappears; its row keeps the focus.
  if (focused !== undefined)
    setTimeout(() => document.activeElement === document.body && focusRow([focused]), 100)
  const ids = new Set(batch.changes.map(({ id }) => id))
  for (const id of ids)
    void changeOrder(
      id,
      batch.changes.filter((change) => change.id === id),
    )
  arrive(batch.changes.filter(({ kind }) => kind === 'created').map(({ id }) => id))
  refreshFigures()
}

/** Requests that were sent before a change may be answered without it. */
function underWay(queryKey: string[]): Query[] {
  return queries.getQueryCache().findAll({ queryKey, fetchStatus: 'fetching' })
}

async function settled({ promise }: Query): Promise<void> {
  await promise?.catch(() => undefined)
}

function changeLists(changes: readonly Change[]): void {
  for (const change of changes) changeRows(change)
  changeColumns(new Set(changes.map(({ id }) => id))).catch(() => undefined)
}

/** Rows stay where they are. A change that the row is already past does nothing. */
function changeRows({ id, status }: Change): void {
  const isMeant = (row: OrderSummary) => row.id === id && leadsTo(row.status, status)
  for (const { queryKey, state } of queries.getQueryCache().findAll({ queryKey: ['orders', 'list'] })) {
    const page = state.data as { items: OrderSummary[] } | undefined
    if (!page?.items.some(isMeant)) continue
    const items = page.items.map((row) => (isMeant(row) ? { ...row, status } : row))
    // The page is no fresher for it.
    queries.setQueryData(queryKey, { ...page, items }, { updatedAt: state.dataUpdatedAt })
  }
}

/** The most restrictions that a filter may have. */
const askedAtOnce = 25

/** Events lack the further columns of a list: they are fetched for the rows that changed. */
async function changeColumns(ids: ReadonlySet<string>): Promise<void> {
  for (const { queryKey, state } of queries
    .getQueryCache()
    .findAll({ queryKey: ['orders', 'list'], type: 'active' })) {
    const { columns } = queryKey[2] as ReturnType<typeof parametersOf>
    const page = state.data as { items: OrderSummary[] } | undefined
    const changed = page?.items.filter(({ id }) => ids.has(id)).slice(0, askedAtOnce) ?? []
    if (columns === undefined || changed.length === 0) continue
    const query = { filter: changed.map(({ id }) => `id=${id}`).join(' OR '), columns, pageSize: askedAtOnce }
    const ask = ofThisPerson(() => answerOf(client.GET('/v1/orders', { params: { query } })))
    const { items } = await ask()
    const rowOf = (row: OrderSummary) => items.find(({ id }) => id === row.id) ?? row
    queries.setQueryData<typeof page>(queryKey, (now) => now && { ...now, items: now.items.map(rowOf) }, {
      updatedAt: state.dataUpdatedAt,
    })
  }
}

/** Reads an open order again, and announces who was faster before this person tries. */
async function changeOrder(id: string, changes: readonly Change[]): Promise<void> {
  const { queryKey } = orderQuery(id)
  // A query is not sent again while its first answer is on its way.
  const first = partsOfOne
    .flatMap((part) => underWay(['orders', part, id]))
    .filter(({ state }) => state.data === undefined)
  await Promise.all(first.map(settled))
  const last = changes.at(-1)
  const known = versionOf(queries.getQueryData(queryKey))
  if (last === undefined || known === undefined) return
  const isNoted = changes.some(({ kind }) => kind === 'noted')
  if (known >= last.version && !isNoted && first.length === 0) return
  const isOpen = queries.getQueryCache().find({ queryKey })?.isActive() ?? false
  await Promise.all(
    partsOfOne.map((part) => {
      const filters = { queryKey: ['orders', part, id] }
      // A view that opens later must not show the old state, not even for a moment.
      queries.removeQueries({ ...filters, type: 'inactive' })
      return queries.invalidateQueries(filters)
    }),
  )
  if (isOpen && known < last.version) announceWho(queries.getQueryData<VersionedOrder>(queryKey))
}

function announceWho(now: VersionedOrder | undefined): void {
  const session = currentSession()
  const by = now?.order.modifiedBy
  if (now === undefined || by == null || session.kind !== 'signed-in' || by === session.user.userName) return
  const state = nameOf(now.order.status)
  const what = state === undefined || state === firstState ? 'given approval to' : words[state].meaning
  announce(`${isolated(by)} has ${what} this order.`)
}

/** The entity tag is the row version. */
function versionOf(data: VersionedOrder | undefined): number | undefined {
  const version = Number(data?.etag?.replaceAll('"', ''))
  return Number.isInteger(version) ? version : undefined
}

let isDue = false
let timer: ReturnType<typeof setTimeout> | undefined

/** At once, and again at the end of each interval in which something happened. */
function refreshFigures(): void {
  isDue = true
  if (timer !== undefined) return
  const turn = () => {
    timer = isDue ? setTimeout(turn, figuresMilliseconds) : undefined
    if (isDue) void readFigures()
    isDue = false
  }
  turn()
}

async function readFigures(): Promise<void> {
  void queries.invalidateQueries({ queryKey: ['orders', 'overview'] })
  const session = currentSession()
  if (session.kind !== 'signed-in' || !session.permissions.includes('Orders.Approve')) return
  const query = { ...countQuery('status=Pending'), staleTime: 0 }
  const count = await queries.fetchQuery(query).catch(() => undefined)
  if (count !== undefined && currentSession() === session) waiting.set(count)
}

// Orders that had arrived when a list was requested are in it, and no longer new.
queries.getQueryCache().subscribe((event) => {
  if (event.type !== 'updated' || event.query.queryKey[1] !== 'list' || !event.query.isActive()) return
  if (event.action.type === 'fetch') listAsked()
  if (event.action.type === 'success' && !event.action.manual) listLoaded()
})
