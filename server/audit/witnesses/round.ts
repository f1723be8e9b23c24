import { fromBase64 } from '../../../proof/bytes.ts'
import { type Note, readNote, type Signature, spellNote } from '../../../proof/note.ts'
import type { Clock } from '../../clock.ts'
import type { AppDatabase } from '../../db/port.ts'
import { type Resolve, whyUnreachable } from '../../names.ts'
import { type LogKeys, originOf, signCheckpoint } from '../checkpoints/checkpoints.ts'
import { proofOf } from '../checkpoints/proof.ts'
import { headOfLog } from '../lines/store.ts'
import { ask, type Witness } from './ask.ts'
import { type Finding, knownWitnesses } from './store.ts'
import { idOf, type Witnesses } from './witnesses.ts'

export interface RoundParts {
  db: AppDatabase
  keys: LogKeys
  publicUrl: () => string
  witnesses: Witnesses
  resolve: Resolve
  clock: Clock
  /** Aborted when the service stops. */
  signal: AbortSignal
  timeLimitMilliseconds?: number
}

export interface Outcome {
  witness: Witness
  finding?: Finding
  signature?: Signature
  /** Why it did not cosign the checkpoint; undefined if it did. */
  failure?: string
}

export interface Round {
  era: number
  size: number
  outcomes: Outcome[]
  isQuorum: boolean
}

/** Per witness, both requests together. */
const defaultTimeLimitMilliseconds = 10_000

/** Asks every witness to cosign the checkpoint of the log as it is now, and keeps what they say. */
export async function askWitnesses(parts: RoundParts): Promise<Round> {
  const { db, keys, publicUrl, witnesses, clock } = parts
  const { era, ...head } = await headOfLog(db.read)
  const note = readNote(await signCheckpoint(keys, originOf(publicUrl(), era), head))
  const known = await knownWitnesses(db.read, era)
  const outcomes = await Promise.all(
    witnesses.list.map((witness) => {
      const { size = 0 } = known.find((one) => one.witness === idOf(witness)) ?? {}
      const from = Math.min(size, head.size)
      return outcomeOf(parts, { witness, note, from, size: head.size })
    }),
  )
  const cosignatures = outcomes.flatMap(({ signature }) => signature ?? [])
  const isQuorum = cosignatures.length >= witnesses.quorum
  const checkpoint = spellNote({ text: note.text, signatures: [...note.signatures, ...cosignatures] })
  await db.write('keepFindings', {
    era,
    known,
    findings: outcomes.flatMap(({ finding }) => finding ?? []),
    cosigned: isQuorum ? { size: head.size, checkpoint } : undefined,
    quorum: { witnesses: witnesses.list.map(idOf), needed: witnesses.quorum },
    nowMilliseconds: clock(),
  })
  return { era, size: head.size, outcomes, isQuorum }
}

interface Question {
  witness: Witness
  note: Note
  /** The size that the witness cosigned last, as far as is known. */
  from: number
  size: number
}

async function outcomeOf(parts: RoundParts, question: Question): Promise<Outcome> {
  const { witness } = question
  const { signal, timeLimitMilliseconds = defaultTimeLimitMilliseconds } = parts
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeLimitMilliseconds)])
  try {
    return { witness, ...(await answerOf({ ...parts, signal: limit }, question)) }
  } catch (error) {
    return {
      witness,
      failure: limit.aborted ? 'it did not answer in time' : whyUnreachable(error as Error),
    }
  }
}

/** A witness that names another size than was expected is asked again from there, once. */
async function answerOf(
  parts: RoundParts,
  question: Question,
  isSecond = false,
): Promise<Omit<Outcome, 'witness'>> {
  const { witness, note, from, size } = question
  const id = idOf(witness)
  const path = from === 0 ? [] : await proofOf(parts.db.read, { from, size, sequence: undefined })
  const answer = await ask(witness, { from, path: path.map(fromBase64), note }, parts)
  if (answer.kind === 'cosigned') {
    return { signature: answer.signature, finding: { witness: id, says: 'cosigned', size } }
  }
  // To another root of the size that it cosigned a witness answers 409, and the size is the same.
  const isOtherRoot = answer.kind === 'conflict' && answer.size === from && from === size
  if (answer.kind === 'contradiction' || isOtherRoot) {
    if (from === 0) throw new Error('it answered 422 although it has no checkpoint')
    const failure = `its checkpoint of ${from} events leads to another log`
    return { failure, finding: { witness: id, says: 'contradiction', size: from } }
  }
  if (answer.size > size) {
    const failure = `it has a checkpoint of ${answer.size} events, more than the log`
    return { failure, finding: { witness: id, says: 'ahead', size: answer.size } }
  }
  if (isSecond || answer.size === from) throw new Error('it answered 409 to the size that it named')
  return answerOf(parts, { ...question, from: answer.size }, true)
}
