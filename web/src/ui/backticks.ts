/** The pieces of a sentence with code between backticks; none is empty. */
export function piecesOf(sentence: string): { at: number; text: string; isCode: boolean }[] {
  const pieces = sentence.split('`').map((text, at) => ({ at, text, isCode: at % 2 === 1 }))
  return pieces.filter(({ text }) => text !== '')
}

/** The same for screen readers, and wherever code cannot look different. */
export function withoutBackticks(sentence: string): string {
  return sentence.replaceAll('`', '')
}
