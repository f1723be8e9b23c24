import type { Db } from '../../db/tables.ts'
import { cosignedCheckpoint } from '../checkpoints/store.ts'
import { headOfLog } from '../lines/store.ts'
import { knownWitnesses } from './store.ts'
import { idOf, type Witnesses } from './witnesses.ts'

/** How far the witnesses have followed this era of the log. */
export async function reportOnWitnesses(db: Db, { list }: Witnesses) {
  const head = await headOfLog(db)
  const cosigned = await cosignedCheckpoint(db)
  const ofEra = cosigned?.era === head.era ? cosigned : undefined
  const known = new Map((await knownWitnesses(db, head.era)).map((row) => [row.witness, row]))
  return {
    quorumAt: ofEra?.cosigned_at,
    uncosignedEvents: Math.max(0, head.size - (ofEra?.size ?? 0)),
    witnesses: list.map((witness) => {
      const row = known.get(idOf(witness))
      const [cosignedAt, contradicts] = [row?.cosigned_at ?? undefined, row?.contradicts ?? undefined]
      return { name: witness.key.name, cosignedAt, contradicts }
    }),
  }
}
