/**
 * Mail to people. It waits in the table `mails`, which holds no secret: each mail is written when it is sent.
 * A server that does not answer delays mail, and nothing else (ADR 58).
 */
import { isBefore } from '../../proof/place.ts'
import { endOfLog, readOn, type SealedEvent } from '../audit/audit.ts'
import type { Clock } from '../clock.ts'
import type { AppDatabase } from '../db/port.ts'
import type { Db, Trx } from '../db/tables.ts'
import type { Message } from './message.ts'
import { findPlace, insertMail, lockPlace, movePlace, type NewMail, type QueuedMail } from './store.ts'

export { type Message, momentIn } from './message.ts'
export {
  digest,
  findMailSettings,
  findPrompt,
  hasDueDigest,
  type MailSettings,
  waitingChoices,
} from './settings.ts'
export { countSent, countWaiting, isQueued, takeRecipients } from './store.ts'

/** The parts that write a kind of mail. */
export interface MailParts {
  db: AppDatabase
  clock: Clock
  publicUrl: () => string
  /** For people who have no zone. */
  defaultTimeZone: string
}

/** A mail that is ready to be sent. */
export interface WrittenMail {
  /** The account that gets it. */
  principalId: number
  email: string
  message: Message
}

/** A reason to send mail. `operations.ts` of each slice lists its kinds. */
export interface MailKind {
  name: string
  /**
   * Writes the mail to a recipient: the id of an account, or an email that one had. Undefined if nothing is
   * to be sent any more. It runs again at each attempt.
   */
  write(parts: MailParts, mail: Pick<QueuedMail, 'recipient' | 'about'>): Promise<WrittenMail | undefined>
  /** To whom an event of the log is mailed: ids of accounts. Absent for mail that no event causes. */
  follow?(trx: Trx, event: SealedEvent): Promise<readonly number[]>
  /** Queues mail that no event causes. Returns whether there may be more. */
  queue?(parts: MailParts): Promise<boolean>
  /** How long it waits for more events for its recipient, in milliseconds; it is then one mail about all. */
  gatherMilliseconds?: number
}

/** Queues a mail, unless the same one waits already. */
export function queueMail(trx: Trx, mail: NewMail): Promise<void> {
  return insertMail(trx, mail)
}

/** Whether the service has ever sent mail: if not, none is queued that nobody asked for. */
export async function sendsMail(db: Db): Promise<boolean> {
  return (await findPlace(db)) !== undefined
}

/** News that is older is no news: mail may have been off for months. */
const freshMilliseconds = 24 * 3_600_000

/**
 * The write operation that queues mail for the next events of the log. It moves its place in the same
 * transaction, so each event is looked at once. Returns whether there may be more.
 */
export function eventMailer(kinds: readonly MailKind[]) {
  return async (trx: Trx, { nowMilliseconds }: { nowMilliseconds: number }): Promise<boolean> => {
    const { events, reached, end } = await readOn(trx, await lockPlace(trx, await endOfLog(trx)))
    for (const event of events.filter(({ at }) => at > nowMilliseconds - freshMilliseconds)) {
      for (const { name: kind, follow, gatherMilliseconds } of kinds) {
        for (const id of (await follow?.(trx, event)) ?? []) {
          await insertMail(trx, {
            kind,
            recipient: String(id),
            about: String(event.sequence),
            nowMilliseconds,
            gatherMilliseconds,
          })
        }
      }
    }
    await movePlace(trx, reached)
    return isBefore(reached, end)
  }
}
