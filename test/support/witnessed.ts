import { readVerifierKey, spellVerifierKey } from '../../proof/note.ts'
import { originOf, publishedKeys } from '../../server/audit/checkpoints/checkpoints.ts'
import { cosignedCheckpoint } from '../../server/audit/checkpoints/store.ts'
import { headOfLog } from '../../server/audit/lines/store.ts'
import { reportOnWitnesses } from '../../server/audit/witnesses/report.ts'
import { Witnessing } from '../../server/audit/witnesses/watch.ts'
import type { Witnesses } from '../../server/audit/witnesses/witnesses.ts'
import type { AppDatabase } from '../../server/db/port.ts'
import { startWitness } from '../../witness/test/running.ts'
import type { Signer } from '../../witness/test/signed-log.ts'
import { testLogKeys } from './log.ts'
import { logInstance } from './log-instance.ts'
import { publicUrl } from './service.ts'

type T = { after(hook: () => unknown): void }

/** The key under which the log is known, in each era. */
export async function logKey(era = 1) {
  const [published] = await publishedKeys(testLogKeys(), originOf(publicUrl, era))
  return readVerifierKey(published?.verifierKey ?? '')
}

export interface Other {
  signer: Signer
  url: string
}

/** As `LOG_WITNESSES`. */
export const settingOf = (others: readonly Other[]) =>
  others.map(({ signer, url }) => `${spellVerifierKey(signer.key)} ${url}`).join(',')

/** An instance that asks these witnesses. */
export async function instanceOf(t: T, size: number, others: readonly Other[], quorum = others.length) {
  const made = await logInstance(t, size)
  const list = others.map(({ signer: { key }, url }) => ({ key, url }))
  const witnesses: Witnesses = { list, quorum, everySeconds: 60, skipped: [] }
  const options = {}
  return {
    ...made,
    witnesses,
    options,
    /** One more process. */
    start: () => new Witnessing({ ...made.parts, witnesses, ...options }),
    /** A minute later, with more events. */
    async lookLater(witnessing: Witnessing, grown = 0) {
      if (grown > 0) await made.grow(grown)
      await made.nextMinute()
      await witnessing.look()
    },
    report: () => reportOnWitnesses(made.db.read, witnesses),
    cosigned: () => cosignedCheckpoint(made.db.read),
  }
}

/** As a round does in which the only witness has a checkpoint of more events than the log. */
export async function contradict(
  db: Pick<AppDatabase, 'read' | 'write'>,
  ahead: number,
  era?: number,
): Promise<void> {
  const head = await headOfLog(db.read)
  const witness = 'witness.example+00000000+AAAA'
  await db.write('keepFindings', {
    era: era ?? head.era,
    findings: [{ witness, says: 'ahead', size: head.size + ahead }],
    cosigned: undefined,
    quorum: { witnesses: [witness], needed: 1 },
    nowMilliseconds: 1_800_000_000_000,
  })
}

export async function threeWitnesses(t: T) {
  const keys = [await logKey()]
  return [await startWitness(t, keys), await startWitness(t, keys), await startWitness(t, keys)] as const
}

export const failuresOf = (lines: Record<string, unknown>[]) =>
  lines.filter(({ event }) => event === 'witness').map(({ failure }) => failure)
