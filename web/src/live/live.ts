import type { Query } from '@tanstack/react-query'
import { useEffect } from 'react'
import { delay } from '../../../client/src/calls.ts'
import type { Batch, Change } from '../../../client/src/changes.ts'
import { isBefore, readPlace } from '../../../proof/place.ts'
import { isolated } from '../../../rules/isolate.ts'
import { answerOf, client } from '../api/client.ts'
import { problemOf } from '../api/problem.ts'
import { queries } from '../api/queries.ts'
import { mayDecide, useAbsentPersons } from '../auth/absence.ts'
import { currentSession, ofThisPerson, onForget, useMay } from '../auth/session.ts'
import { countQuery, usuallyAsked } from '../orders/address/queries.ts'
import { arrive, isCrowded } from '../orders/arrivals.ts'
import { isChoosable } from '../orders/decide/chosen.ts'
import { focusRow, rowIdOf } from '../orders/list/rows.ts'
import { type ListedOrder, type VersionedOrder, versionOf } from '../orders/order.ts'
import { absentOfChange, historyQuery, orderQuery, partsOfOne } from '../orders/queries.ts'
import { allows, eventWords, mineFilter, nameOf, words } from '../orders/states.ts'
import { announce } from '../ui/announce.ts'
import { waiting } from '../ui/waiting.ts'

/** One connection serves all tabs of a browser: the tab that holds the lock reads and passes it on. */
const name = 'countersign-live'
const channel = new BroadcastChannel(name)
/** Figures are refreshed no more often than this, however much happens. */
const figuresMilliseconds = 3_000
/** Only the end of a stream elsewhere makes room for this one. */
const crowdedMilliseconds = 60_000
/** How far in the log this tab has read, in case it becomes the reader. */
let place: string | undefined
let again = new AbortController()

type Message = Batch | { listReadAt: string } | { isCrowded: true }

/**
 * Shows what others do while someone who may read orders is signed in. Without Web Locks, or without the
 * connection, the app just works without it.
 */
export function useLive(): void {
  const mayRead = useMay('Orders.Read')
  const standsIn = useAbsentPersons().length > 0
  useEffect(() => (mayRead && navigator.locks ? listen() : undefined), [mayRead])
  useEffect(() => {
    if (!standsIn) return undefined
    refreshFigures()
    return refreshFigures
  }, [standsIn])
}

/** Returns a function that ends it. */
export function listen(): () => void {
  const leaving = new AbortController()
  const { signal } = leaving
  const hear = ({ data }: MessageEvent<Message>) => {
    if ('listReadAt' in data) beginAt(data.listReadAt)
    else if ('isCrowded' in data) isCrowded.set(true)
    else take(data)
  }
  channel.addEventListener('message', hear, { signal })
  for (const list of lists()) coverList(list)
  // Rejects when the service refuses this browser.
  navigator.locks.request(name, () => read(signal)).catch(() => undefined)
  refreshFigures()
  return () => leaving.abort()
}

/** Follows the live list for all tabs. It begins again if a list was read before the place it has reached. */
async function read(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    again = new AbortController()
    const following = { after: place, signal: AbortSignal.any([signal, again.signal]) }
    try {
      for await (const batch of client.orders.follow(following)) {
        channel.postMessage(batch)
        take(batch)
      }
    } catch (failure) {
      if (problemOf(failure, 'too-many-streams') === undefined) throw failure
      channel.postMessage({ isCrowded: true } satisfies Message)
      isCrowded.set(true)
      await delay(crowdedMilliseconds, following.signal).catch(() => undefined)
    }
  }
}

onForget(() => {
  place = undefined
  isCrowded.set(false)
  waiting.set(0)
})

const lists = () => queries.getQueryCache().findAll({ queryKey: ['orders', 'list'] })

function pageOf({ state }: Query) {
  return state.data as { items: ListedOrder[]; place: string | null } | undefined
}

/** A list lacks later changes, so the tab that reads has to begin no later than the list was read. */
function coverList(list: Query): void {
  const listReadAt = pageOf(list)?.place
  if (!listReadAt) return
  beginAt(listReadAt)
  channel.postMessage({ listReadAt } satisfies Message)
}

function beginAt(listReadAt: string): void {
  if (place !== undefined && !isBefore(readPlace(listReadAt), readPlace(place))) return
  place = listReadAt
  again.abort()
}

function take(batch: Batch): void {
  isCrowded.set(false)
  place = batch.place
  if (batch.isReset) void queries.invalidateQueries({ queryKey: ['orders'] })
  if (batch.isReset) refreshFigures()
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
  const shown = new Set(lists().flatMap((list) => pageOf(list)?.items.map(({ id }) => id) ?? []))
  arrive(batch.changes.filter(({ id, kind }) => kind === 'created' && !shown.has(id)).map(({ id }) => id))
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

/**
 * Rows stay where they are. A change that the row already includes does nothing. `version` stays that of the
 * documents that the row counts.
 */
function changeRows({ id, status, version }: Change): void {
  const isMeant = (row: ListedOrder) => row.id === id && (row.newest ?? row.version ?? 0) < version
  for (const list of lists()) {
    const page = pageOf(list)
    if (!page?.items.some(isMeant)) continue
    const items = page.items.map((row) => (isMeant(row) ? { ...row, status, newest: version } : row))
    // The page counts as no fresher than before.
    queries.setQueryData(list.queryKey, { ...page, items }, { updatedAt: list.state.dataUpdatedAt })
  }
}

/** The most restrictions that a filter may have. */
const askedAtOnce = 25

/**
 * Events lack the optional columns of a list: these are fetched for the rows that changed. With the usual
 * columns, that is only whether the person may still approve the order.
 */
async function changeColumns(ids: ReadonlySet<string>): Promise<void> {
  for (const { queryKey, state } of queries
    .getQueryCache()
    .findAll({ queryKey: ['orders', 'list'], type: 'active' })) {
    const { columns } = queryKey[2] as { columns: string }
    const page = state.data as { items: ListedOrder[] } | undefined
    const isNews = (row: ListedOrder) => columns !== usuallyAsked || isChoosable(row)
    const changed = page?.items.filter((row) => ids.has(row.id) && isNews(row)).slice(0, askedAtOnce) ?? []
    if (changed.length === 0) continue
    const query = { filter: changed.map(({ id }) => `id=${id}`).join(' OR '), columns, pageSize: askedAtOnce }
    const ask = ofThisPerson(() => answerOf(client.GET('/v1/orders', { params: { query } })))
    const { items } = await ask()
    const rowOf = (row: ListedOrder) => items.find(({ id }) => id === row.id) ?? row
    queries.setQueryData<typeof page>(queryKey, (now) => now && { ...now, items: now.items.map(rowOf) }, {
      updatedAt: state.dataUpdatedAt,
    })
  }
}

/** Reads an open order again. If someone else was faster, announces it before this person tries. */
async function changeOrder(id: string, changes: readonly Change[]): Promise<void> {
  const { queryKey } = orderQuery(id)
  // A query whose first answer is still on its way is not sent again.
  const first = partsOfOne
    .flatMap((part) => underWay(['orders', part, id]))
    .filter(({ state }) => state.data === undefined)
  await Promise.all(first.map(settled))
  const last = changes.at(-1)
  const known = versionOf(queries.getQueryData(queryKey)?.etag)
  if (last === undefined || known === undefined) return
  const isNoted = changes.some(({ kind }) => kind === 'noted')
  if (known >= last.version && !isNoted && first.length === 0) return
  await Promise.all(
    partsOfOne.map((part) => {
      const filters = { queryKey: ['orders', part, id] }
      // A view that opens later must not show the old state, not even for a moment.
      queries.removeQueries({ ...filters, type: 'inactive' })
      return queries.invalidateQueries(filters)
    }),
  )
  if (known < last.version) announceWho(queries.getQueryData<VersionedOrder>(queryKey), last)
}

function announceWho(now: VersionedOrder | undefined, { kind }: Change): void {
  const session = currentSession()
  const by = now?.order.modifiedBy
  if (now === undefined || by == null || session.kind !== 'signed-in' || by === session.user.userName) return
  const state = nameOf(now.order.status)
  const isOpen = state === undefined || allows(now.order.status, 'approve')
  const isDocument = kind === 'document-added' || kind === 'document-removed'
  const done = isDocument ? eventWords[kind].verb : 'given approval to'
  const what = isOpen ? done : words[state].meaning
  const absent = absentOfChange(now.order, queries.getQueryData(historyQuery(now.order.id).queryKey))
  const who = absent == null ? isolated(by) : `${isolated(by)} for ${isolated(absent)}`
  announce(`${who} has ${what} this order.`)
}

let isDue = false
let timer: ReturnType<typeof setTimeout> | undefined

/** Refreshes at once, and again after each interval in which something happened. */
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
  const query = { ...countQuery(mineFilter), staleTime: 0 }
  const count = mayDecide() ? await queries.fetchQuery(query).catch(() => undefined) : 0
  if (count !== undefined && currentSession() === session) waiting.set(count)
}

queries.getQueryCache().subscribe((event) => {
  if (event.type !== 'updated' || event.query.queryKey[1] !== 'list') return
  if (event.action.type === 'success' && !event.action.manual) coverList(event.query)
})
