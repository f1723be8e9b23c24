import type { Database, Db, Trx } from '../../db/tables.ts'

/** A day that is over, and its last checkpoint. */
type Day = Pick<Database['log_timestamps'], 'day' | 'era' | 'checkpoint'>
export type StampedDay = Day & { answer: string }

/** The first instance to look after the end of a day decides what its last checkpoint is. */
export async function closeDay(trx: Trx, day: Day): Promise<void> {
  await trx
    .insertInto('log_timestamps')
    .values({ ...day, answer: null, kept_at: null })
    .onConflict((conflict) => conflict.columns(['day', 'era']).doNothing())
    .execute()
}

export async function isClosed(db: Db, { day, era }: Pick<Day, 'day' | 'era'>): Promise<boolean> {
  const closed = db.selectFrom('log_timestamps').select('day').where('day', '=', day).where('era', '=', era)
  return (await closed.executeTakeFirst()) !== undefined
}

/** The earliest day that has no timestamp yet. */
export async function unstampedDay(db: Db): Promise<Day | undefined> {
  return db
    .selectFrom('log_timestamps')
    .select(['day', 'era', 'checkpoint'])
    .where('answer', 'is', null)
    .orderBy('day')
    .orderBy('era')
    .limit(1)
    .executeTakeFirst()
}

/** The first timestamp stays. */
export async function keepTimestamp(
  trx: Trx,
  {
    day,
    era,
    answer,
    nowMilliseconds,
  }: { day: string; era: number; answer: string; nowMilliseconds: number },
): Promise<void> {
  await trx
    .updateTable('log_timestamps')
    .set({ answer, kept_at: nowMilliseconds })
    .where('day', '=', day)
    .where('era', '=', era)
    .where('answer', 'is', null)
    .execute()
}

/** When the newest timestamp came. */
export async function lastTimestampAt(db: Db): Promise<number | undefined> {
  const last = db.selectFrom('log_timestamps').select((eb) => eb.fn.max('kept_at').as('at'))
  return (await last.executeTakeFirst())?.at ?? undefined
}

/** The days that have a timestamp, the earliest first. */
export async function stampedDays(db: Db): Promise<StampedDay[]> {
  return db
    .selectFrom('log_timestamps')
    .select(['day', 'era', 'checkpoint', 'answer'])
    .where('answer', 'is not', null)
    .$narrowType<{ answer: string }>()
    .orderBy('day')
    .orderBy('era')
    .execute()
}
