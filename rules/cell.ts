/**
 * Where a program would begin a formula, even one that also splits cells at `;` or a tab. Some programs treat
 * full-width signs like plain ones (OWASP, CSV injection).
 */
const formulaBegins = /(?<=^|[;\t][\s"]*)(?='*[=+\-@＝＋－＠])|^(?='*[\t\r])/g
const guardedBegins = /(?<=^|[;\t][\s"]*)'(?='*[=+\-@＝＋－＠])|^'(?='*[\t\r])/g

/**
 * A text as a cell of a CSV file. An apostrophe keeps a spreadsheet from reading it as a formula. A text that
 * begins with such an apostrophe gets another one, so `unguarded` always gives back what was written.
 */
export function textCell(text: string): string {
  const plain = text.replaceAll(formulaBegins, "'")
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

/** A text from a CSV file, without the apostrophes of `textCell`. */
export function unguarded(text: string): string {
  return text.replaceAll(guardedBegins, '')
}
