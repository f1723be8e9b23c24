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
import {
  findGathering,
  findPlace,
  insertMail,
  lockPlace,
  movePlace,
  type NewMail,
  type QueuedMail,
} from './store.ts'

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
  /**
   * To whom events of the log are mailed. An event has more than 50 recipients only if the mail gathers:
   * they are then queued in several batches. Absent for mail that no event causes.
   */
  follow?(trx: Trx, events: readonly SealedEvent[]): Promise<Followers>
  /** Queues mail that no event causes. Returns whether there may be more. */
  queue?(parts: MailParts): Promise<boolean>
  /** How long it waits for more events for its recipient, in milliseconds: it is one mail about all. */
  gatherMilliseconds?: number
}

/** Ids of accounts, by the sequence of the event. */
export type Followers = ReadonlyMap<number, readonly number[]>

/** Queues a mail, unless the same one waits already. */
export function queueMail(trx: Trx, mail: NewMail): Promise<void> {
  return insertMail(trx, mail)
}

/** Whether the service has ever sent mail: if not, none is queued that nobody asked for. */
export async function sendsMail(db: Db): Promise<boolean> {
  return (await findPlace(db)) !== undefined
}

/** The write operation that begins mail about events: nobody wants mail about the past. */
export async function beginMail(trx: Trx): Promise<void> {
  await lockPlace(trx, await endOfLog(trx))
}

/** How many mails about one event a transaction queues. On SQLite, other writes wait for it. */
const batch = 50

/** News that is older is no news: mail may have been off for months. */
const freshMilliseconds = 24 * 3_600_000

/**
 * The write operation that queues mail for the next events of the log. It moves its place in the same
 * transaction, so each event is looked at once, except one whose recipients take several batches. Returns
 * whether there may be more.
 */
export function eventMailer(kinds: readonly MailKind[]) {
  return async (trx: Trx, { nowMilliseconds }: { nowMilliseconds: number }): Promise<boolean> => {
    const { events, reached, end } = await readOn(trx, await lockPlace(trx, await endOfLog(trx)))
    const fresh = events.filter(({ at }) => at > nowMilliseconds - freshMilliseconds)
    const followed = await followAll(trx, kinds, fresh)
    for (const { sequence } of fresh) {
      for (const { name, gatherMilliseconds, followers, have } of followed) {
        const recipients = (followers.get(sequence) ?? []).map(String).filter((one) => !have.has(one))
        for (const recipient of recipients.slice(0, batch)) {
          const mail = { kind: name, recipient, about: String(sequence), nowMilliseconds, gatherMilliseconds }
          await insertMail(trx, mail)
          if (gatherMilliseconds !== undefined) have.add(recipient)
        }
        if (recipients.length > batch) {
          await movePlace(trx, { era: reached.era, sequence: sequence - 1 })
          return true
        }
      }
    }
    await movePlace(trx, reached)
    return isBefore(reached, end)
  }
}

/** `have` are the recipients for whom a mail gathers. */
async function followAll(trx: Trx, kinds: readonly MailKind[], events: readonly SealedEvent[]) {
  const followed: (MailKind & { followers: Followers; have: Set<string> })[] = []
  for (const kind of kinds.filter(({ follow }) => follow !== undefined)) {
    const followers: Followers = (await kind.follow?.(trx, events)) ?? new Map()
    const isAlone = kind.gatherMilliseconds === undefined || followers.size === 0
    followed.push({ ...kind, followers, have: new Set(isAlone ? [] : await findGathering(trx, kind.name)) })
  }
  return followed
}
