import type { Db, Trx } from '../../db/tables.ts'
import { headOfLog } from '../lines/store.ts'
import { isContradicted, type Quorum, stopLog } from '../sealing/contradiction.ts'

/** The answer of a witness about a checkpoint of this log. */
export interface Finding {
  /** Its verifier key. */
  witness: string
  /**
   * It cosigned the checkpoint of this size; or it has one of this size that is beyond the head, or leads to
   * another log.
   */
  says: 'cosigned' | 'ahead' | 'contradiction'
  size: number
}

export interface Findings {
  era: number
  findings: readonly Finding[]
  /** As known when the round began. A contradiction noted since then is newer than a cosignature. */
  known?: readonly KnownWitness[]
  /** The checkpoint with its cosignatures, if they are a quorum. */
  cosigned: { size: number; checkpoint: string } | undefined
  quorum: Quorum
  nowMilliseconds: number
}

/**
 * Of rounds at the same time, the one that got further stays. Stops the log if a quorum of witnesses
 * contradicts it.
 */
export async function keepFindings(trx: Trx, input: Findings): Promise<void> {
  const { era, findings, known = [], cosigned, quorum, nowMilliseconds } = input
  const head = await headOfLog(trx)
  for (const { witness, says, size } of findings) {
    const cosignedNow = { size, cosigned_at: nowMilliseconds, contradicts: null }
    const { contradicts = null } = known.find((one) => one.witness === witness) ?? {}
    if (says === 'cosigned') await keepWitness(trx, { witness, era }, cosignedNow, contradicts)
    // The log may have grown while the witness answered.
    else if (says === 'contradiction' || size > head.size) {
      await keepWitness(trx, { witness, era }, { contradicts: size })
    }
  }
  if (cosigned !== undefined) await keepCosigned(trx, { era, ...cosigned, cosigned_at: nowMilliseconds })
  if (isContradicted(await knownWitnesses(trx, era), quorum)) await stopLog(trx, { era, nowMilliseconds })
}

/** A cosignature ends no contradiction but `ended`. */
async function keepWitness(
  trx: Trx,
  key: { witness: string; era: number },
  found: { size?: number; cosigned_at?: number; contradicts: number | null },
  ended: number | null = null,
): Promise<void> {
  await trx
    .insertInto('log_witnesses')
    .values({ size: 0, cosigned_at: null, ...key, ...found })
    .onConflict((conflict) =>
      conflict
        .columns(['witness', 'era'])
        .doUpdateSet(found)
        .where((eb) =>
          eb.or([
            eb.lit(found.contradicts !== null),
            eb('log_witnesses.contradicts', 'is', null),
            eb('log_witnesses.contradicts', '=', ended),
          ]),
        ),
    )
    .execute()
}

async function keepCosigned(
  trx: Trx,
  row: { era: number; size: number; checkpoint: string; cosigned_at: number },
): Promise<void> {
  await trx
    .insertInto('log_cosigned')
    .values({ id: 1, ...row })
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet(row)
        .where((eb) =>
          eb.or([
            eb('log_cosigned.era', '<', row.era),
            eb('log_cosigned.era', '=', row.era).and('log_cosigned.size', '<=', row.size),
          ]),
        ),
    )
    .execute()
}

/** The last known state of a witness in an era. */
export interface KnownWitness {
  witness: string
  size: number
  cosigned_at: number | null
  /** See `log_witnesses`. */
  contradicts: number | null
}

export async function knownWitnesses(db: Db, era: number): Promise<KnownWitness[]> {
  const columns = ['witness', 'size', 'cosigned_at', 'contradicts'] as const
  return db.selectFrom('log_witnesses').select(columns).where('era', '=', era).execute()
}
