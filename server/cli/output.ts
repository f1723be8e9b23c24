/** Columns are as wide as their widest cell and two spaces apart; no line ends in spaces. */
export function table(headings: string[], rows: string[][]): string {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => [...(row[column] ?? '')].length)),
  )
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - [...cell].length))
      .join('  ')
      .trimEnd()
  return [headings, ...rows].map(line).join('\n')
}

const intervalMilliseconds = 1_000

/** Prints progress at once and then at most once a second; with `json` each line is one JSON value. */
export function progressPrinter<Progress>(
  json: boolean,
  describe: (progress: Progress) => string,
  write: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
  nowMilliseconds: () => number = () => performance.now(),
): (progress: Progress) => void {
  let nextAt = Number.NEGATIVE_INFINITY
  return (progress) => {
    const now = nowMilliseconds()
    if (now < nextAt) return
    nextAt = now + intervalMilliseconds
    write(json ? JSON.stringify({ progress }) : describe(progress))
  }
}

/** A number as people read it: 1,000,000. */
export function grouped(count: number): string {
  return count.toLocaleString('en-US')
}
