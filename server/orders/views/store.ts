import type { Db, Trx } from '../../db/tables.ts'
import { foldText } from '../fold.ts'
import type { ColumnName, SortKey } from '../order.ts'

/** A named request for a list. */
export interface ViewContent {
  name: string
  filter: string
  sort: { orderBy: SortKey; order: 'asc' | 'desc' }
  columns: ColumnName[]
  shared: boolean
}

export interface View extends ViewContent {
  id: string
  ownerId: number
  /** User name. */
  owner: string
  version: number
}

const columns = [
  'views.id',
  'owner_id as ownerId',
  'principals.name as owner',
  'views.name',
  'filter',
  'sort_key as orderBy',
  'direction as order',
  'columns',
  'shared',
  'views.version',
] as const

/** The caller's views and all shared ones; no other view is visible to the caller. */
function seenBy(db: Db, callerId: number) {
  return db
    .selectFrom('views')
    .innerJoin('principals', 'principals.id', 'owner_id')
    .where((eb) => eb.or([eb('owner_id', '=', callerId), eb('shared', '=', 1)]))
}

type Row = Awaited<ReturnType<typeof selectRows>>[number]

function selectRows(db: Db, callerId: number) {
  return seenBy(db, callerId).select(columns).execute()
}

function toView({ orderBy, order, columns, shared, ...others }: Row): View {
  return {
    ...others,
    sort: { orderBy: orderBy as SortKey, order },
    columns: JSON.parse(columns),
    shared: shared === 1,
  }
}

/** A page of the views that the caller sees, by name. */
export async function findViews(
  db: Db,
  callerId: number,
  page: { offset: number; limit: number },
): Promise<{ views: View[]; totalCount: number }> {
  const seen = seenBy(db, callerId)
  const { totalCount } = await seen
    .select(({ fn }) => fn.countAll<number>().as('totalCount'))
    .executeTakeFirstOrThrow()
  const rows = await seen
    .select(columns)
    .orderBy('views.name_folded')
    .orderBy('views.id')
    .limit(page.limit)
    .offset(page.offset)
    .execute()
  return { views: rows.map(toView), totalCount: Number(totalCount) }
}

export async function findView(db: Db, id: string, callerId: number): Promise<View | undefined> {
  const row = await seenBy(db, callerId).select(columns).where('views.id', '=', id).executeTakeFirst()
  return row && toView(row)
}

/** The owner of any view, which never changes. */
export async function findOwner(db: Db, id: string): Promise<number | undefined> {
  const row = await db.selectFrom('views').select('owner_id').where('id', '=', id).executeTakeFirst()
  return row?.owner_id
}

/** Locks the owner's row by a write that changes nothing: no other transaction changes the owner's views. */
export async function lockViewsOf(trx: Trx, ownerId: number): Promise<void> {
  await trx
    .updateTable('principals')
    .set((eb) => ({ enabled: eb.ref('enabled') }))
    .where('id', '=', ownerId)
    .execute()
}

export async function countViewsOf(db: Db, ownerId: number): Promise<number> {
  const { count } = await db
    .selectFrom('views')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('owner_id', '=', ownerId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Whether the caller sees another view of the owner that has the name, ignoring case. */
export async function isNameTaken(
  db: Db,
  { id, ownerId, name }: { id: string; ownerId: number; name: string },
  callerId: number,
): Promise<boolean> {
  const row = await seenBy(db, callerId)
    .select('views.id')
    .where('owner_id', '=', ownerId)
    .where('views.name_folded', '=', foldText(name))
    .where('views.id', '<>', id)
    .executeTakeFirst()
  return row !== undefined
}

function toRow({ name, filter, sort, columns, shared }: ViewContent) {
  return {
    name,
    name_folded: foldText(name),
    filter,
    sort_key: sort.orderBy,
    direction: sort.order,
    columns: JSON.stringify(columns),
    shared: Number(shared),
  }
}

/** False if the id was taken in the meantime. */
export async function insertView(
  trx: Trx,
  { id, ownerId, content }: { id: string; ownerId: number; content: ViewContent },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('views')
    .values({ id, owner_id: ownerId, ...toRow(content), version: 1 })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** The caller holds the lock of the owner. */
export async function updateView(trx: Trx, id: string, content: ViewContent): Promise<void> {
  await trx
    .updateTable('views')
    .set((eb) => ({ ...toRow(content), version: eb('version', '+', 1) }))
    .where('id', '=', id)
    .execute()
}

export async function removeView(trx: Trx, id: string): Promise<void> {
  await trx.deleteFrom('views').where('id', '=', id).execute()
}
