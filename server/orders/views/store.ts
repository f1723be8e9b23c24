import type { Db, Trx } from '../../db/tables.ts'
import { foldText } from '../fold.ts'
import type { ColumnName, SortKey } from '../order.ts'

export interface ViewContent {
  name: string
  filter: string
  sort: { orderBy: SortKey; order: 'asc' | 'desc' }
  columns: ColumnName[]
}

/** An id alone names no view: two accounts may choose the same one. */
export interface ViewKey {
  ownerId: number
  id: string
}

export interface View extends ViewContent {
  id: string
  version: number
}

function selectViews(db: Db, ownerId: number) {
  const columns = ['id', 'name', 'filter', 'sort_key', 'direction', 'columns', 'version'] as const
  return db.selectFrom('views').select(columns).where('owner_id', '=', ownerId)
}

type Row = Awaited<ReturnType<ReturnType<typeof selectViews>['execute']>>[number]

function toView({ sort_key: orderBy, direction: order, columns, ...others }: Row): View {
  return { ...others, sort: { orderBy: orderBy as SortKey, order }, columns: JSON.parse(columns) }
}

/** All views of the owner, by name, ignoring case. */
export async function findViews(db: Db, ownerId: number): Promise<View[]> {
  const views = (await selectViews(db, ownerId).execute()).map(toView)
  return views.sort((a, b) => (foldText(a.name) < foldText(b.name) ? -1 : 1))
}

export async function findView(db: Db, { ownerId, id }: ViewKey): Promise<View | undefined> {
  const row = await selectViews(db, ownerId).where('id', '=', id).executeTakeFirst()
  return row && toView(row)
}

/** Locks the owner's row by a write that changes nothing: no other transaction changes the owner's views. */
export async function lockViewsOf(trx: Trx, ownerId: number): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('principals')
    .set((eb) => ({ enabled: eb.ref('enabled') }))
    .where('id', '=', ownerId)
    .where('enabled', '=', 1)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** The caller holds the lock of the owner. */
export async function writeView(trx: Trx, { ownerId, id }: ViewKey, view: View): Promise<void> {
  const row = {
    name: view.name,
    filter: view.filter,
    sort_key: view.sort.orderBy,
    direction: view.sort.order,
    columns: JSON.stringify(view.columns),
    version: view.version,
  }
  await trx
    .insertInto('views')
    .values({ owner_id: ownerId, id, ...row })
    .onConflict((conflict) => conflict.columns(['owner_id', 'id']).doUpdateSet(row))
    .execute()
}

export async function removeView(trx: Trx, { ownerId, id }: ViewKey): Promise<void> {
  await trx.deleteFrom('views').where('owner_id', '=', ownerId).where('id', '=', id).execute()
}
