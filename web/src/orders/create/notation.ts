import { formatTotal, ownLocale } from '../../ui/format.ts'
import { type Notation, notationOf } from './total-input.ts'

/** People type decimals as in their own language; what was understood is shown as the app shows totals. */
export const notation: Notation = {
  ...notationOf(ownLocale),
  write: (decimal) => formatTotal(decimal as `${number}`),
}
