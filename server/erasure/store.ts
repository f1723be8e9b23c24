import type { Db } from '../db/tables.ts'

/** Undefined if there is no such person. */
export async function personOf(
  db: Db,
  id: number,
): Promise<{ createdAt: number; isErased: boolean } | undefined> {
  const row = await db
    .selectFrom('users')
    .innerJoin('principals', 'principals.id', 'users.principal_id')
    .select(['created_at as createdAt', 'erased_at'])
    .where('principals.id', '=', id)
    .executeTakeFirst()
  return row && { createdAt: row.createdAt, isErased: row.erased_at !== null }
}

/** Whether a line still has the value, and is the line with the hash. */
export async function hasValue(
  db: Db,
  { sequence, name, hash }: { sequence: number; name: string; hash?: string | undefined },
): Promise<boolean> {
  const line = await lineAt(db, sequence)
  if (line === undefined || JSON.parse(line.clear)[name]?.value == null) return false
  return hash === undefined || hash === line.hash
}

export const lineAt = (db: Db, sequence: number) =>
  db.selectFrom('events').select(['clear', 'hash']).where('sequence', '=', sequence).executeTakeFirst()

/** The customer of an order whose event of creation still names one. */
export async function customerOf(db: Db, id: string): Promise<string | undefined> {
  const [order, creation] = await Promise.all([
    db.selectFrom('orders').select('customer').where('id', '=', id).executeTakeFirst(),
    db
      .selectFrom('events')
      .select('clear')
      .where('subject_id', '=', id)
      .where('subject_kind', '=', 'order')
      .where('kind', '=', 'created')
      .executeTakeFirst(),
  ])
  const isNamed = creation === undefined || JSON.parse(creation.clear).customer?.value != null
  return isNamed ? order?.customer : undefined
}
