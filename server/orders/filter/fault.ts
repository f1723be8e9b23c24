/**
 * What is wrong with a filter text. `position` and `length` say where, in UTF-16 code units of the text as it was
 * given, zero-based, so that a web page can underline it with `slice`; a text that ends too early has its fault at
 * `text.length` with length 0. `detail` is a sentence for people and holds at most a short excerpt of the text;
 * `expected` lists what could stand there, and is empty when nothing would help.
 */
export class FilterError extends Error {
  readonly position: number
  readonly length: number
  readonly detail: string
  readonly expected: string[]

  constructor(position: number, length: number, detail: string, expected: readonly string[] = []) {
    super(detail)
    this.name = 'FilterError'
    this.position = position
    this.length = length
    this.detail = detail
    this.expected = [...expected]
  }
}

const excerptCodePoints = 24

/** The text, or its beginning, safe to echo: never cut inside a surrogate pair. */
export function excerpt(text: string): string {
  const codePoints = Array.from(text.slice(0, 2 * excerptCodePoints + 2))
  return codePoints.length <= excerptCodePoints ? text : `${codePoints.slice(0, excerptCodePoints).join('')}…`
}
