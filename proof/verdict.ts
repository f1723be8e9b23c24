import type { LogLine } from './line.ts'
import { eraOf, lineOfProof, type Restore, restoreThatLost } from './log.ts'
import { isOfLog, type Proof, readNote, type VerifierKey } from './note.ts'
import { type ApprovedOrder, readOrder } from './order.ts'
import { follow, proofOf, type Vouched, vouchedBy } from './proof.ts'
import { type Receipt, readReceipt, type SigningKeys, verifyJws } from './receipt.ts'

/**
 * `valid`: everything that was given lies under checkpoints that vouched-for keys stand behind, and fits.
 * `not valid`: something given contradicts something else given. `not checked yet`: anything else.
 */
export type Verdict = 'valid' | 'not valid' | 'not checked yet'

/** Why a verdict is what it is. */
export interface Judgement {
  /** The contradictions. */
  faults: string[]
  /** The things to add before it is valid. */
  missing: string[]
  /** The keys on which it rests: it is valid if they are what they are called. */
  restsOn: VerifierKey[]
}

export function verdictOf(judgements: readonly Pick<Judgement, 'faults' | 'missing'>[]): Verdict {
  if (judgements.some(({ faults }) => faults.length > 0)) return 'not valid'
  const isChecked = judgements.length > 0 && judgements.every(({ missing }) => missing.length === 0)
  return isChecked ? 'valid' : 'not checked yet'
}

/**
 * Judges a checkpoint by the keys that somebody vouches for. Of those of its log, and of those of witnesses,
 * at least one has to stand behind it.
 */
export function judgeCheckpoint(vouched: Vouched, keys: readonly VerifierKey[]): Judgement {
  const { origin, signed, forged, unchecked } = vouched
  const cosigned = vouched.cosigned.map(({ key }) => key)
  const ofLog = keys.filter((key) => isOfLog(key) && key.name === origin)
  const witnesses = keys.filter((key) => !isOfLog(key))
  const restsOn = [...signed, ...cosigned]
  const open = unchecked.filter((key) => (isOfLog(key) ? signed : cosigned).length === 0)
  const missing = [
    ...open.map(({ name }) => `the signature of ${name} cannot be checked here: use a newer browser or Node`),
    ...(ofLog.length > 0 && signed.length === 0 && !open.some(isOfLog)
      ? [
          `none of the keys given for ${origin} signed the checkpoint: if its key was replaced, add the former one`,
        ]
      : []),
    ...(witnesses.length > 0 && cosigned.length === 0 && open.every(isOfLog)
      ? ['none of the given witnesses cosigned the checkpoint']
      : []),
    ...(ofLog.length === 0 && restsOn.length + open.length === 0
      ? [`nobody vouches for the checkpoint: add the key of the log ${origin}, from ${addressOfKey(origin)}`]
      : []),
  ]
  return {
    faults: forged.map(({ name }) => `the signature of ${name} on the checkpoint is false`),
    missing,
    restsOn,
  }
}

/** Where the service publishes the key of its log. */
export const addressOfKey = (origin: string) => `https://${hostOf(origin)}/v1/log/key`

/** The host of the service whose log has this origin. */
export const hostOf = (origin: string) => origin.replace(/\/log(?:\/[1-9]\d*)?$/, '')

/** Checkpoints of one log and size with different roots: faults of all of them. */
export function contradictionsOf(checkpoints: readonly Vouched[]): string[] {
  const roots = Map.groupBy(checkpoints, ({ origin, size }) => `${origin}, ${size} lines`)
  return [...roots]
    .filter(([, all]) => new Set(all.map(({ root }) => String(root))).size > 1)
    .map(([what]) => `two checkpoints of ${what} have different roots`)
}

/** Looks up a line under a checkpoint of this origin. A restore that lost it is the answer itself. */
export function placeInLog(
  { sequence, hash }: Pick<LogLine, 'sequence' | 'hash'>,
  origin: string,
  log: { lines: ReadonlyMap<number, LogLine>; restores: readonly Restore[] },
): 'same' | 'other' | 'none' | Restore {
  const restore = restoreThatLost(log.restores, { era: eraOf(origin), size: sequence })
  if (restore !== undefined) return restore
  const line = log.lines.get(sequence)
  if (line === undefined) return 'none'
  return line.hash === hash ? 'same' : 'other'
}

export interface JudgedLine extends Judgement {
  /** Undefined unless the proof leads to the checkpoint. */
  line: LogLine | undefined
  vouched: Vouched | undefined
}

/** Judges a tlog-proof: that its line lies under its checkpoint, and what that is worth. */
export async function judgeProof(proof: Proof, keys: readonly VerifierKey[]): Promise<JudgedLine> {
  try {
    const vouched = await vouchedBy(readNote(proof.checkpoint), keys)
    await follow(proof, vouched)
    return { line: lineOfProof(proof), vouched, ...judgeCheckpoint(vouched, keys) }
  } catch (error) {
    return { line: undefined, vouched: undefined, ...faulty(error) }
  }
}

const faulty = (error: unknown): Judgement => ({
  faults: [(error as Error).message],
  missing: [],
  restsOn: [],
})

export interface JudgedReceipt extends Judgement {
  /** These are undefined if it is not what a receipt is. */
  receipt: Receipt | undefined
  order: ApprovedOrder | undefined
  vouched: Vouched | undefined
}

/**
 * Judges a receipt: that its lines lie under its checkpoint, that they are the whole approval of one order,
 * and what that is worth.
 */
export async function judgeReceipt(jws: string, keys: readonly VerifierKey[]): Promise<JudgedReceipt> {
  try {
    const receipt = readReceipt(jws)
    const { iss, lines, checkpoint } = receipt
    const vouched = await vouchedBy(readNote(checkpoint), keys)
    if (hostOf(vouched.origin) !== new URL(iss).host) {
      throw new Error(`its checkpoint is of ${vouched.origin}, and it says that it is from ${iss}`)
    }
    for (const placed of lines) await follow(proofOf(placed, checkpoint), vouched)
    const order = await readOrder(lines.map(({ line }) => line))
    return { receipt, order, vouched, ...judgeCheckpoint(vouched, keys) }
  } catch (error) {
    return notReceipt(error)
  }
}

const notReceipt = (error: unknown): JudgedReceipt => ({
  receipt: undefined,
  order: undefined,
  vouched: undefined,
  ...faulty(error),
})

/** The same with key sets for JWTs, too: they can only contradict it. `signedBy` has those that signed it. */
export async function judgeJws(
  jws: string,
  keys: readonly VerifierKey[],
  services: readonly SigningKeys[],
): Promise<JudgedReceipt & { signedBy: SigningKeys[] }> {
  try {
    const signed = await Promise.all(services.map((set) => verifyJws(jws, set)))
    return { ...(await judgeReceipt(jws, keys)), signedBy: services.filter((_, at) => signed[at]) }
  } catch (error) {
    return { ...notReceipt(error), signedBy: [] }
  }
}
