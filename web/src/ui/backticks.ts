/** A sentence whose code stands between backticks, in pieces: every second one is code, and none is empty. */
export function piecesOf(sentence: string): { at: number; text: string; isCode: boolean }[] {
  const pieces = sentence.split('`').map((text, at) => ({ at, text, isCode: at % 2 === 1 }))
  return pieces.filter(({ text }) => text !== '')
}

/** The same for the ear, and wherever code cannot look different. */
export function withoutBackticks(sentence: string): string {
  return sentence.replaceAll('`', '')
}
