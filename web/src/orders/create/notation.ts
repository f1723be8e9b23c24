import { currency, formatTotal, ownLocale } from '../../ui/format.ts'
import { type Notation, notationOf } from './total-input.ts'

/**
 * People type decimals as in their own language. The app shows what it understood in the way it shows
 * totals.
 */
export const notation: Notation = {
  ...notationOf(ownLocale),
  currency,
  write: (decimal) => formatTotal(decimal as `${number}`),
}
