import { formatTotal, ownLocale } from '../../ui/format.ts'
import { type Notation, notationOf } from './total-input.ts'

/** People type decimals as in their own language; the app shows what it understood as it shows totals. */
export const notation: Notation = {
  ...notationOf(ownLocale),
  write: (decimal) => formatTotal(decimal as `${number}`),
}
