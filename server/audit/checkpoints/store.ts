import { prepared } from '../../db/prepared.ts'
import type { Database, Db } from '../../db/tables.ts'

/** The newest checkpoint that a quorum of witnesses cosigned. */
export async function cosignedCheckpoint(
  db: Db,
): Promise<Pick<Database['log_cosigned'], 'era' | 'size' | 'checkpoint' | 'cosigned_at'> | undefined> {
  return (await selectCosigned(db, {})).rows[0]
}

const selectCosigned = prepared((db) =>
  db.selectFrom('log_cosigned').select(['era', 'size', 'checkpoint', 'cosigned_at']),
)
