import type { FilterFault } from '../../../rules/lexer.ts'

/** Thrown for a text that is not a filter. */
export class FilterError extends Error {
  override name = 'FilterError'
  readonly fault: FilterFault

  constructor(fault: FilterFault) {
    super(fault.detail)
    this.fault = fault
  }
}

const excerptCodePoints = 24

/** The text, or its beginning, safe to echo: never cut inside a surrogate pair. */
export function excerpt(text: string): string {
  const codePoints = Array.from(text.slice(0, 2 * excerptCodePoints + 2))
  return codePoints.length <= excerptCodePoints ? text : `${codePoints.slice(0, excerptCodePoints).join('')}…`
}
