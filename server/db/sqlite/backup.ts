import Sqlite from 'better-sqlite3'
import { DatabaseRefused } from '../errors.ts'
import { translateErrors } from './driver.ts'
import { openReadOnly } from './files.ts'

/**
 * Copies one snapshot; without it, every commit of a running service would restart the copy. The write-ahead
 * log keeps the pages that the snapshot needs until then.
 */
export async function backUp(file: string, target: string): Promise<void> {
  const snapshot = translateErrors(() => openReadOnly(file))
  try {
    translateErrors(() => snapshot.exec('begin; select 1 from sqlite_schema limit 1'))
    await snapshot.backup(target)
  } catch (error) {
    if (!(error instanceof Sqlite.SqliteError)) throw error
    throw new DatabaseRefused(`${target} cannot be written: ${error.message}`, { cause: error })
  } finally {
    snapshot.close()
  }
}
