import { withoutReordering } from '../../../../rules/isolate.ts'
import type { Reading } from '../../ui/draft.ts'

/** Unicode code points after trimming, as in the contract. */
export const customerLimit = 200
/** The counter appears from this length on. */
const counterFrom = 160

const canBeSeen =
  /[[\p{L}\p{N}\p{P}\p{S}]--[\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{13441}\u{13442}\u{1d159}]]/v

/** Accepts only what the service accepts and stores as it was shown. */
export function readCustomer(text: string): Reading<string> {
  const customer = text.trim().normalize('NFC')
  if (customer === '') return { ok: false, fault: 'Enter the name of the customer.' }
  if (!customer.isWellFormed())
    return { ok: false, fault: 'A character in the name is damaged. Type it again.' }
  if (/\p{Cc}/u.test(customer)) {
    return { ok: false, fault: 'The name contains a tab or another invisible character. Remove it.' }
  }
  if (withoutReordering(customer) !== customer) {
    return {
      ok: false,
      fault:
        'The name contains an invisible character that changes the order of the text. Type the name again.',
    }
  }
  if (!canBeSeen.test(customer)) {
    return { ok: false, fault: 'The name has no visible characters. Enter at least one letter or digit.' }
  }
  if (lengthOf(customer) > customerLimit) {
    return { ok: false, fault: `The name can have at most ${customerLimit} characters.` }
  }
  return { ok: true, wire: customer }
}

/** How many characters are left, once that is worth knowing; negative when there are too many. */
export function charactersLeft(text: string): number | undefined {
  const length = lengthOf(text.trim().normalize('NFC'))
  return length < counterFrom ? undefined : customerLimit - length
}

function lengthOf(text: string): number {
  return [...text].length
}
