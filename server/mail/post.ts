import { isSame } from '../../proof/place.ts'
import { endOfLog } from '../audit/audit.ts'
import type { Log } from '../log.ts'
import { FailureReport, repeat } from '../upkeep.ts'
import type { MailKind, MailParts } from './mail.ts'
import { hasDueDigest } from './settings.ts'
import { isRefusal, reasonOf, type Smtp } from './smtp.ts'
import { findPlace, isExhausted, nextMail, type QueuedMail } from './store.ts'

export interface PostParts extends MailParts {
  smtp: Smtp
  kinds: readonly MailKind[]
  log: Pick<Log, 'info' | 'warn'>
}

const lookIntervalMilliseconds = 1_000
/**
 * Between two mails. A thousand digests take 70 s, and the 99th percentile of other requests rises up to
 * 1.7 times meanwhile; with a third of the pause, 2.9 times (two cores, SQLite).
 */
const pauseMilliseconds = 60

/** Sends the mail that is due, on every instance. Returns the way to stop. */
export function startPost(post: Post): () => void {
  const task = {
    everyMilliseconds: lookIntervalMilliseconds,
    pauseMilliseconds,
    run: () => post.sendNext(),
    failure: 'mail could not be looked for; trying again every second',
  }
  const stop = repeat(task, post.parts.log)
  return () => {
    stop()
    post.parts.smtp.close()
  }
}

/** Sends one mail after the other. */
export class Post {
  readonly parts: PostParts
  /** How many attempts there were so far, by kind. */
  readonly outcomes = { sent: new Map<string, number>(), failed: new Map<string, number>() }
  readonly #kinds: ReadonlyMap<string, MailKind>
  readonly #server: FailureReport

  constructor(parts: PostParts) {
    this.parts = parts
    this.#server = new FailureReport(parts.log, {
      fails: 'the mail server takes no mail; it is kept',
      works: 'the mail server takes mail again',
    })
    this.#kinds = new Map(parts.kinds.map((kind) => [kind.name, kind]))
  }

  /**
   * Returns false if there is nothing to do at once: no mail is due, or the server takes none. Mail for new
   * events is queued first.
   */
  async sendNext(): Promise<boolean> {
    const { db, clock, smtp } = this.parts
    const isMore = await this.#queueNews()
    const mail = await nextMail(db.read, [...this.#kinds.keys()], clock())
    if (mail === undefined) {
      smtp.close()
      return isMore
    }
    if (isExhausted(mail)) return this.#drop(mail)
    const isOurs = await db.write('claimMail', {
      id: mail.id,
      attempts: mail.attempts,
      nowMilliseconds: clock(),
    })
    return isOurs ? this.#attempt(mail) : true
  }

  /** Queues mail about the next events, and the daily mails that are due. Returns whether events are left. */
  async #queueNews(): Promise<boolean> {
    const { db, clock, defaultTimeZone } = this.parts
    const nowMilliseconds = clock()
    const [place, end] = [await findPlace(db.read), await endOfLog(db.read)]
    if (await hasDueDigest(db.read, nowMilliseconds)) {
      await db.write('queueDigests', { nowMilliseconds, defaultTimeZone })
    }
    if (place !== undefined && isSame(place, end)) return false
    return db.write('queueEventMails', { nowMilliseconds })
  }

  async #attempt(mail: QueuedMail): Promise<boolean> {
    const { db, clock, smtp } = this.parts
    const written = await this.#kinds.get(mail.kind)?.write(this.parts, mail)
    if (written === undefined) {
      await db.write('dropMail', { id: mail.id })
      return true
    }
    const { principalId, email, message } = written
    try {
      await smtp.send({ email, message, nowMilliseconds: clock() })
    } catch (error) {
      return this.#fail(mail, error)
    }
    await db.write('noteSentMail', { id: mail.id, principalId, nowMilliseconds: clock() })
    count(this.outcomes.sent, mail)
    this.parts.log.info({ event: 'mail-sent', kind: mail.kind, principalId }, 'mail sent')
    this.#noteServer(undefined)
    return true
  }

  /** If only this mail was refused, the next one follows. */
  #fail(mail: QueuedMail, error: unknown): boolean {
    const { smtp, log } = this.parts
    count(this.outcomes.failed, mail)
    if (isRefusal(error)) {
      const line = { event: 'mail-refused', kind: mail.kind, id: mail.id, reason: reasonOf(error) }
      log.warn(line, 'a mail was not taken; trying again later')
      return true
    }
    smtp.close()
    this.#noteServer(reasonOf(error))
    return false
  }

  #noteServer(failure: string | undefined): void {
    this.#server.note(failure, { event: 'mail-server', failure })
  }

  async #drop(mail: QueuedMail): Promise<boolean> {
    const { db, log } = this.parts
    await db.write('dropMail', { id: mail.id })
    const line = { event: 'mail-dropped', kind: mail.kind, id: mail.id, attempts: mail.attempts }
    log.warn(line, 'a mail was given up')
    return true
  }
}

function count(counts: Map<string, number>, { kind }: QueuedMail): void {
  counts.set(kind, (counts.get(kind) ?? 0) + 1)
}
