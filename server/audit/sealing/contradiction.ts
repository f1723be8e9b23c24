/**
 * What stops the log: enough witnesses have a checkpoint of it that does not lead to what it is now. Then its
 * database went back to an earlier state, or was changed. From then on nothing is sealed or signed, until the
 * next era begins (ADR 57).
 */
import type { Db, Trx } from '../../db/tables.ts'
import { Problem } from '../../problems/problems.ts'

/** The witnesses that count, by their verifier keys, and how many of them decide. */
export interface Quorum {
  witnesses: readonly string[]
  needed: number
}

/** Whether a quorum of witnesses contradicts the log. One more or less decides nothing. */
export function isContradicted(
  known: readonly { witness: string; contradicts: number | null }[],
  { witnesses, needed }: Quorum,
): boolean {
  const against = known.filter(
    ({ witness, contradicts }) => contradicts !== null && witnesses.includes(witness),
  )
  return against.length >= needed
}

/** Stops the log in this era. A sealer that is at work finishes before; none begins after. */
export async function stopLog(
  trx: Trx,
  { era, nowMilliseconds }: { era: number; nowMilliseconds: number },
): Promise<void> {
  await trx
    .updateTable('log_head')
    .set({ contradicted_at: nowMilliseconds })
    .where('era', '=', era)
    .where('contradicted_at', 'is', null)
    .execute()
}

/** Checkpoints that contradict the log. */
export interface Contradiction {
  /** The size of the log itself. */
  size: number
  /** Each witness with the size of its checkpoint. */
  witnesses: { name: string; size: number }[]
}

/** Undefined unless the log is stopped. */
export async function contradictionOf(db: Db): Promise<Contradiction | undefined> {
  const heads = db.selectFrom('log_head').select(['era', 'size']).where('contradicted_at', 'is not', null)
  const head = await heads.executeTakeFirst()
  if (head === undefined) return undefined
  const against = await db
    .selectFrom('log_witnesses')
    .select(['witness', 'contradicts as size'])
    .where('era', '=', head.era)
    .where('contradicts', 'is not', null)
    .orderBy('witness')
    .execute()
  const witnesses = against.map(({ witness, size }) => ({ name: nameIn(witness), size: Number(size) }))
  return { size: head.size, witnesses }
}

/** A verifier key is spelled NAME+ID+KEY. */
const nameIn = (key: string) => key.split('+', 1).join()

/** Throws `log-contradicted` if the log is stopped. */
export async function refuseContradicted(db: Db): Promise<void> {
  const contradiction = await contradictionOf(db)
  if (contradiction === undefined) return
  throw new Problem('log-contradicted', { detail: inWords(contradiction), members: { ...contradiction } })
}

/** For people who run the service. */
export function inWords({ size, witnesses }: Contradiction): string {
  const events = (count: number) => (count === 1 ? '1 event' : `${count} events`)
  const said = witnesses.map((each) => `${each.name} has a checkpoint of ${events(each.size)}`)
  return (
    `The log has ${events(size)}, but ${said.join(', ')} that does not lead to it. ` +
    'Nothing is sealed or signed until `restore` or `log restored` has begun the next era.'
  )
}
