import { withoutReordering } from '../../../../rules/isolate.ts'

/** How people write a currency, longest first: its code, and its signs. */
function signsOf(code: string): string[] {
  const displays = ['code', 'symbol', 'narrowSymbol'] as const
  const signs = displays.flatMap((currencyDisplay) => {
    const format = new Intl.NumberFormat('en', { style: 'currency', currency: code, currencyDisplay })
    return format.formatToParts(1).filter(({ type }) => type === 'currency')
  })
  return [...new Set(signs.map(({ value }) => value))].sort((a, b) => b.length - a.length)
}

/** The text without this currency before or after the number. */
export function withoutCurrency(text: string, code: string | undefined): string {
  const bare = withoutReordering(text).trim()
  if (code === undefined) return bare
  for (const sign of signsOf(code)) {
    // A sign such as K is not written small: 5 k are 5,000.
    const isSign = (part: string) => part === sign || (sign === code && part.toUpperCase() === code)
    const [isFirst, isLast] = [isSign(bare.slice(0, sign.length)), isSign(bare.slice(-sign.length))]
    const rest = isFirst ? bare.slice(sign.length) : isLast ? bare.slice(0, -sign.length) : undefined
    if (rest !== undefined && /^\P{L}*$/u.test(rest)) return rest.trim()
  }
  return bare
}

/** Why a text with a sign or a word in it is no total; undefined if it has none. */
export function strangerFault(text: string, code: string | undefined): string | undefined {
  const [name] = /\p{Sc}|\p{L}[\p{L}.]+/u.exec(text) ?? []
  if (name === undefined) return undefined
  const without = `without “${name}”`
  return code === undefined
    ? `Enter only the number, ${without}.`
    : `Totals are in ${code}. Enter the number ${without}.`
}
