/**
 * Mail to people. It waits in the table `mails`, which holds no secret: each mail is written when it is sent.
 * A server that does not answer delays mail, and nothing else (ADR 58).
 */
import type { Clock } from '../clock.ts'
import type { AppDatabase } from '../db/port.ts'
import type { Trx } from '../db/tables.ts'
import type { Message } from './message.ts'
import { insertMail } from './store.ts'

export type { Message } from './message.ts'
export { countSent } from './store.ts'

/** What a kind of mail is written from. */
export interface MailParts {
  db: AppDatabase
  clock: Clock
  publicUrl: () => string
}

/** A mail that is ready to be sent. */
export interface WrittenMail {
  /** The account that gets it. */
  principalId: number
  email: string
  message: Message
}

/** A reason to send mail. `operations.ts` lists all kinds. */
export interface MailKind {
  name: string
  /**
   * Writes the mail to a recipient: an email, or the id of an account. Undefined if nothing is to be sent any
   * more. It runs again at each attempt.
   */
  write(parts: MailParts, recipient: string): Promise<WrittenMail | undefined>
}

export interface NewMail {
  kind: string
  recipient: string
  nowMilliseconds: number
}

/** Queues a mail, unless the same one waits already. */
export function queueMail(trx: Trx, mail: NewMail): Promise<void> {
  return insertMail(trx, mail)
}
