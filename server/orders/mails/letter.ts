import type { MailParts, Message } from '../../mail/mail.ts'
import { decimalOf } from '../order.ts'
import type { ListedOrder, Reader } from './store.ts'

/** Events within half a minute are in one mail. */
export const gatherMilliseconds = 30_000

const digits = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 4 })

export function inWords({ number, customer, total }: ListedOrder): string {
  return `#${number} ${customer}, ${digits.format(decimalOf(total) as Intl.StringNumericLiteral)}`
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
