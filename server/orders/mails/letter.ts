import type { MailParts, Message } from '../../mail/mail.ts'
import { decimalOf } from '../order.ts'
import type { ListedOrder, Reader } from './store.ts'

/** Events within half a minute are in one mail. */
export const gatherMilliseconds = 30_000

const digits = { minimumFractionDigits: 2, maximumFractionDigits: 4 }

/** The first formatter of a process takes 13 ms, so it is made here and not at the start of each. */
export function inWords({ number, customer, total }: ListedOrder): string {
  const sum = new Intl.NumberFormat('en-US', digits).format(decimalOf(total) as Intl.StringNumericLiteral)
  return `#${number} ${customer}, ${sum}`
}

export const zoneOf = ({ timeZone }: Reader, { defaultTimeZone }: MailParts) => timeZone ?? defaultTimeZone

type Said = Pick<Message, 'subject' | 'blocks' | 'reason'>

export function letterTo({ id, userName, email }: Reader, { publicUrl }: MailParts, said: Said) {
  const { subject, blocks, reason } = said
  const message = {
    subject,
    blocks: [`Hello ${userName},`, ...blocks],
    reason,
    settings: `${publicUrl()}/account`,
  }
  return { principalId: id, email, message }
}
