import { isSame } from '../../proof/place.ts'
import { endOfLog } from '../audit/audit.ts'
import type { Log } from '../log.ts'
import { FailureReport, repeat } from '../upkeep.ts'
import { type MailKind, type MailParts, sendsMail } from './mail.ts'
import type { Message } from './message.ts'
import { isRefusal, reasonOf, type Smtp } from './smtp.ts'
import { dueMails, findPlace, isExhausted, type QueuedMail } from './store.ts'

export interface PostParts extends MailParts {
  smtp: Smtp
  kinds: readonly MailKind[]
  organisationName: string | undefined
  log: Pick<Log, 'info' | 'warn'>
}

const lookIntervalMilliseconds = 500
/**
 * Between two mails, or two writes that queue some. A thousand digests take 70 s, and the 99th percentile of
 * other requests rises up to 1.7 times meanwhile; with a third of the pause, 2.9 times (two cores, SQLite).
 */
const pauseMilliseconds = 60

/**
 * Queues and sends mail on every instance. Queueing does not wait for the mail server. Returns the way to
 * stop, which resolves once a mail that is on its way is noted as sent: else it would be sent twice.
 */
export function startPost(post: Post): () => Promise<void> {
  const every = {
    everyMilliseconds: lookIntervalMilliseconds,
    pauseMilliseconds,
    failure: 'mail could not be looked for; trying again every half second',
  }
  const { log } = post.parts
  const stops = [
    repeat({ ...every, run: () => post.queueNext() }, log),
    repeat({ ...every, run: () => post.sendNext() }, log),
  ]
  return async () => {
    await Promise.all(stops.map((stop) => stop()))
    post.parts.smtp.close()
  }
}

/** Sends one mail after the other. The kinds take turns, in the order in which they are listed. */
export class Post {
  readonly parts: PostParts
  /** How many attempts there were so far, by kind. */
  readonly outcomes = { sent: new Map<string, number>(), failed: new Map<string, number>() }
  readonly #kinds: ReadonlyMap<string, MailKind>
  readonly #server: FailureReport
  /** The kinds that have had their turn in this round. */
  readonly #served = new Set<string>()

  constructor(parts: PostParts) {
    this.parts = parts
    this.#server = new FailureReport(parts.log, {
      fails: 'the mail server takes no mail; it is kept',
      works: 'the mail server takes mail again',
    })
    this.#kinds = new Map(parts.kinds.map((kind) => [kind.name, kind]))
  }

  /** Before the service listens: what happens from then on is mailed about. */
  async begin(): Promise<void> {
    if (!(await sendsMail(this.parts.db.read))) await this.parts.db.write('beginMail', undefined)
  }

  /** Queues mail about the next events, and mail that no event causes. Returns whether there may be more. */
  async queueNext(): Promise<boolean> {
    const { db, clock, kinds } = this.parts
    const [place, end] = [await findPlace(db.read), await endOfLog(db.read)]
    const isRead = place !== undefined && isSame(place, end)
    let isMore = isRead ? false : await db.write('queueEventMails', { nowMilliseconds: clock() })
    for (const { queue } of kinds) if (await queue?.(this.parts)) isMore = true
    return isMore
  }

  /** Returns false if there is nothing to do at once: no mail is due, or the server takes none. */
  async sendNext(): Promise<boolean> {
    const { db, clock, smtp } = this.parts
    const mail = this.#inTurn(await dueMails(db.read, [...this.#kinds.keys()], clock()))
    if (mail === undefined) {
      smtp.close()
      return false
    }
    if (isExhausted(mail)) return this.#drop(mail)
    const isOurs = await db.write('claimMail', {
      id: mail.id,
      attempts: mail.attempts,
      nowMilliseconds: clock(),
    })
    return isOurs ? this.#attempt({ ...mail, attempts: mail.attempts + 1 }) : true
  }

  /** In each round every kind has one turn, so that many mails of one kind delay no other for long. */
  #inTurn(due: readonly QueuedMail[]): QueuedMail | undefined {
    const isWaiting = ({ kind }: QueuedMail) => !this.#served.has(kind)
    if (!due.some(isWaiting)) this.#served.clear()
    const order = [...this.#kinds.keys()]
    const [next] = due
      .filter(isWaiting)
      .toSorted((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind))
    if (next !== undefined) this.#served.add(next.kind)
    return next
  }

  async #attempt(mail: QueuedMail): Promise<boolean> {
    const { db, clock, smtp } = this.parts
    const { id, attempts } = mail
    const kind = this.#kinds.get(mail.kind)
    const { sequence: readTo } = await endOfLog(db.read)
    const written = await kind?.write(this.parts, mail)
    if (written === undefined) {
      await db.write('dropMail', { id, attempts })
      return true
    }
    const { principalId, email, message } = written
    try {
      await smtp.send({ email, message: this.#signed(message), nowMilliseconds: clock() })
    } catch (error) {
      return this.#fail(mail, error)
    }
    const { gatherMilliseconds } = kind ?? {}
    const sent = { id, attempts, principalId, nowMilliseconds: clock(), readTo, gatherMilliseconds }
    await db.write('noteSentMail', sent)
    count(this.outcomes.sent, mail)
    this.parts.log.info({ event: 'mail-sent', kind: mail.kind, principalId }, 'mail sent')
    this.#noteServer(undefined)
    return true
  }

  /** People may have accounts at several organisations. */
  #signed(message: Message): Message {
    const { organisationName, publicUrl } = this.parts
    const sender = organisationName ?? new URL(publicUrl()).host
    return { ...message, reason: `Countersign at ${sender}. ${message.reason}` }
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
    this.#server.note(failure, { event: 'mail-server', host: this.parts.smtp.host, failure })
  }

  async #drop(mail: QueuedMail): Promise<boolean> {
    const { db, log } = this.parts
    await db.write('dropMail', { id: mail.id, attempts: mail.attempts })
    const line = { event: 'mail-dropped', kind: mail.kind, id: mail.id, attempts: mail.attempts }
    log.warn(line, 'a mail was given up')
    return true
  }
}

function count(counts: Map<string, number>, { kind }: QueuedMail): void {
  counts.set(kind, (counts.get(kind) ?? 0) + 1)
}
