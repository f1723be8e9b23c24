/** Named lists of orders. Only the owner sees them. */
import type { Db, Trx } from '../../db/tables.ts'
import { type AcceptedVersions, requireVersion } from '../../http/preconditions.ts'
import { Problem } from '../../problems/problems.ts'
import { foldText } from '../fold.ts'
import {
  findView,
  findViews,
  lockViewsOf,
  removeView,
  type View,
  type ViewContent,
  type ViewKey,
  writeView,
} from './store.ts'

/** How many views an account can have: their names fit on a screen. */
export const viewsLimit = 25

export interface ViewInput {
  key: ViewKey
  acceptedVersions: AcceptedVersions
}

/** Throws `view-not-found`. */
export async function readView(db: Db, key: ViewKey): Promise<View> {
  const view = await findView(db, key)
  if (view === undefined) throw new Problem('view-not-found')
  return view
}

/** An instance may still know an account that was disabled or erased. */
async function lock(trx: Trx, { ownerId }: ViewKey): Promise<void> {
  if (!(await lockViewsOf(trx, ownerId))) throw new Problem('authentication-required')
}

/**
 * Creates the view or replaces it. With If-Match it must exist. Throws `view-not-found`,
 * `precondition-failed`, `view-name-taken`, `too-many-views`.
 */
export async function putView(
  trx: Trx,
  { key, acceptedVersions, mustExist, content }: ViewInput & { content: ViewContent; mustExist: boolean },
): Promise<{ view: View; isNew: boolean }> {
  await lock(trx, key)
  const all = await findViews(trx, key.ownerId)
  const found = all.find(({ id }) => id === key.id)
  if (found !== undefined) requireVersion(acceptedVersions, found.version)
  else if (mustExist) throw new Problem('view-not-found')
  else if (all.length >= viewsLimit) throw new Problem('too-many-views')
  const isNamed = ({ id, name }: View) => id !== key.id && foldText(name) === foldText(content.name)
  if (all.some(isNamed)) throw new Problem('view-name-taken')
  const view = { ...content, id: key.id, version: 1 + (found?.version ?? 0) }
  await writeView(trx, key, view)
  return { view, isNew: found === undefined }
}

/** Throws `view-not-found`, `precondition-failed`. */
export async function deleteView(trx: Trx, { key, acceptedVersions }: ViewInput): Promise<void> {
  await lock(trx, key)
  const { version } = await readView(trx, key)
  requireVersion(acceptedVersions, version)
  await removeView(trx, key)
}
