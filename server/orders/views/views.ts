/** Named lists of orders. Only the owner sees a view, unless it is shared. */

import type { Permission } from '../../caller/permissions.ts'
import { type Acting, requireStanding } from '../../caller/standing.ts'
import type { Db, Trx } from '../../db/tables.ts'
import { describePage, type PageDescription, type PageRequest } from '../../http/paging.ts'
import { requireVersion } from '../../http/preconditions.ts'
import { Problem } from '../../problems/problems.ts'
import {
  countViewsOf,
  findOwner,
  findView,
  findViews,
  insertView,
  isNameTaken,
  lockViewsOf,
  removeView,
  updateView,
  type View,
  type ViewContent,
} from './store.ts'

/** How many views an account can have, so that no account fills the table. */
export const viewsLimit = 100

const sharing: Permission = 'Views.Share'

export interface ViewInput {
  id: string
  /** Only a caller with the permission to share may change a view that others see. */
  viewer: Acting & { byId: number }
  /** Versions that If-Match accepts; null for any. */
  acceptedVersions: number[] | null
}

export async function readViews(
  db: Db,
  viewerId: number,
  page: PageRequest,
): Promise<PageDescription & { views: View[] }> {
  const { views, totalCount } = await findViews(db, viewerId, { offset: page.offset, limit: page.pageSize })
  return { views, ...describePage(totalCount, page) }
}

/** Throws `view-not-found`, also for a view that the viewer may not see. */
export async function readView(db: Db, id: string, viewerId: number): Promise<View> {
  const view = await findView(db, id, viewerId)
  if (view === undefined) throw new Problem('view-not-found')
  return view
}

/**
 * Creates the view, or replaces it without changing its owner. With If-Match it must exist. Throws
 * `view-not-found`, `permission-denied`, `precondition-failed`, `view-name-taken`, `too-many-views`, and
 * `concurrency-conflict` if another account takes the id at the same moment.
 */
export async function putView(
  trx: Trx,
  { content, mustExist, ...input }: ViewInput & { content: ViewContent; mustExist: boolean },
): Promise<{ view: View; isNew: boolean }> {
  const { id, viewer } = input
  const ownerId = await findOwner(trx, id)
  const isNew = ownerId === undefined && !mustExist
  const owned = { id, ownerId: ownerId ?? viewer.byId, name: content.name }
  await lockViewsOf(trx, owned.ownerId)
  if (!isNew) await requireChangeable(trx, input)
  if (content.shared) await requireStanding(trx, viewer, sharing)
  if (await isNameTaken(trx, owned, viewer.byId)) throw new Problem('view-name-taken')
  if (isNew) await add(trx, { ...owned, content })
  else await updateView(trx, id, content)
  // Read as its owner sees it, because the caller may just have made it private.
  return { view: await readView(trx, id, owned.ownerId), isNew }
}

async function add(trx: Trx, view: { id: string; ownerId: number; content: ViewContent }): Promise<void> {
  if ((await countViewsOf(trx, view.ownerId)) >= viewsLimit) throw new Problem('too-many-views')
  if (!(await insertView(trx, view))) throw new Problem('concurrency-conflict')
}

/** Throws `view-not-found`, `permission-denied`, `precondition-failed`. */
export async function deleteView(trx: Trx, input: ViewInput): Promise<void> {
  const ownerId = await findOwner(trx, input.id)
  if (ownerId !== undefined) await lockViewsOf(trx, ownerId)
  await requireChangeable(trx, input)
  await removeView(trx, input.id)
}

async function requireChangeable(trx: Trx, { id, viewer, acceptedVersions }: ViewInput): Promise<void> {
  const { shared, version } = await readView(trx, id, viewer.byId)
  if (shared) await requireStanding(trx, viewer, sharing)
  requireVersion(acceptedVersions, version)
}
