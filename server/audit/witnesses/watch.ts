import type { Log } from '../../log.ts'
import { FailureReport, repeat } from '../../upkeep.ts'
import { cosignedCheckpoint } from '../checkpoints/store.ts'
import { headOfLog } from '../lines/store.ts'
import { contradictionOf, inWords } from '../sealing/contradiction.ts'
import { askWitnesses, type Round, type RoundParts } from './round.ts'
import { idOf } from './witnesses.ts'

export interface WitnessingParts extends Omit<RoundParts, 'signal'> {
  log: Pick<Log, 'info' | 'warn' | 'error'>
}

const lookIntervalMilliseconds = 15_000
const hour = 3_600_000

/**
 * Asks the witnesses at the start, and then at most once in `everySeconds`, while the newest checkpoint has
 * no quorum. Returns the way to stop.
 */
export function startWitnessing(parts: WitnessingParts): () => void {
  const stopping = new AbortController()
  const witnessing = new Witnessing({ ...parts, signal: stopping.signal })
  const task = {
    everyMilliseconds: lookIntervalMilliseconds,
    isDoneAtStart: true,
    run: () => witnessing.look(),
    failure: 'the witnesses could not be asked; trying again every 15 seconds',
  }
  const stop = repeat(task, parts.log)
  return () => {
    stop()
    stopping.abort()
  }
}

/** The memory of one instance between rounds. */
export class Witnessing {
  readonly #parts: RoundParts & WitnessingParts
  #hasBegun = false
  /** How far the log went when a quorum last answered. */
  #answered: Pick<Round, 'era' | 'size'> | undefined
  readonly #report: FailureReport
  #warnedAt = Number.NEGATIVE_INFINITY
  #isStopped = false

  constructor(parts: RoundParts & WitnessingParts) {
    this.#parts = parts
    this.#report = new FailureReport(parts.log, {
      fails: 'a witness did not cosign the checkpoint',
      works: 'a witness cosigns again',
    })
  }

  async look(): Promise<void> {
    if ((await this.#noticeStop()) || !(await this.#isDue())) return
    const round = await askWitnesses(this.#parts)
    await this.#noticeStop()
    // The service stopped, so the witnesses are not to blame.
    if (this.#parts.signal.aborted) return
    const answers = round.outcomes.filter(({ finding }) => finding !== undefined)
    if (answers.length >= this.#parts.witnesses.quorum) this.#answered = round
    for (const { witness, failure } of round.outcomes) {
      const line = { event: 'witness', witness: witness.key.name, failure }
      this.#report.note(failure, line, idOf(witness))
    }
    await this.#reportQuorum(round)
  }

  /** Whether the log is stopped. Says so once: asking on would take a signature. */
  async #noticeStop(): Promise<boolean> {
    const { db, log } = this.#parts
    const contradiction = await contradictionOf(db.read)
    if (contradiction !== undefined && !this.#isStopped) {
      log.error({ event: 'log-contradicted', ...contradiction }, inWords(contradiction))
    }
    this.#isStopped = contradiction !== undefined
    return this.#isStopped
  }

  /**
   * What the database knows is not enough: if a copy was put in place, only the witnesses can say so. So they
   * are asked at the start, and whenever the log is shorter than it was.
   */
  async #isDue(): Promise<boolean> {
    const { db, witnesses } = this.#parts
    const head = await headOfLog(db.read)
    if (head.size === 0) return false
    // Of all instances, the one that gets it may ask.
    const lease = { name: 'witnesses', term: null, milliseconds: witnesses.everySeconds * 1_000 }
    if (!this.#hasBegun) {
      await db.write('holdLease', lease)
      this.#hasBegun = true
      return true
    }
    const cosigned = await cosignedCheckpoint(db.read)
    const isCosigned = cosigned?.era === head.era && cosigned.size === head.size
    const hasGrown = this.#answered?.era === head.era && this.#answered.size <= head.size
    return !(isCosigned && hasGrown) && (await db.write('holdLease', lease)) !== null
  }

  /** At most once an hour. */
  async #reportQuorum({ isQuorum, outcomes, size }: Round): Promise<void> {
    const { db, clock, log, witnesses } = this.#parts
    if (isQuorum || clock() - this.#warnedAt < hour) {
      if (isQuorum) this.#warnedAt = Number.NEGATIVE_INFINITY
      return
    }
    this.#warnedAt = clock()
    const last = await cosignedCheckpoint(db.read)
    const lastSecondsAgo = last && Math.round((clock() - last.cosigned_at) / 1000)
    const cosignatures = outcomes.filter(({ failure }) => failure === undefined).length
    log.warn(
      {
        event: 'no-quorum',
        size,
        cosignatures,
        quorum: witnesses.quorum,
        lastSecondsAgo: lastSecondsAgo ?? null,
      },
      'too few witnesses cosigned the checkpoint',
    )
  }
}
