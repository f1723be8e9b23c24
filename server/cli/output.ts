import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Refused } from './failures.ts'

/** Columns are as wide as their widest cell and two spaces apart; no line ends in spaces. */
export function table(headings: string[], rows: string[][]): string {
  return tablePrinter(headings)(rows)
}

/** Prints a table in batches, with headings above the first. A column widens when a wider cell comes. */
export function tablePrinter(headings: string[]): (rows: string[][]) => string {
  const widths = headings.map(() => 0)
  let head = [headings]
  return (rows) => {
    const lines = [...head, ...rows].map((cells) => cells.map((cell) => ({ cell, width: [...cell].length })))
    head = []
    for (const [column, { width }] of lines.flatMap((cells) => [...cells.entries()])) {
      widths[column] = Math.max(widths[column] ?? 0, width)
    }
    const line = (cells: { cell: string; width: number }[]) =>
      cells.map(({ cell, width }, column) => cell + ' '.repeat((widths[column] ?? 0) - width)).join('  ')
    return lines.map((cells) => line(cells).trimEnd()).join('\n')
  }
}

/** Writes to a new file that only its owner may read, and never to one that exists or through a link. */
export async function withNewFile(
  file: string,
  head: string,
  work: (write: (text: string) => void) => Promise<void> = async () => undefined,
): Promise<void> {
  const descriptor = openNew(file)
  try {
    writeSync(descriptor, head)
    await work((text) => writeSync(descriptor, text))
  } finally {
    fsyncSync(descriptor)
    closeSync(descriptor)
  }
}

function openNew(file: string): number {
  try {
    return openSync(file, 'wx', 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new Refused('file-exists', `${file} already exists; it was not changed`, { cause: error })
  }
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

/** Prints text of any length as it comes. A reader that stops reading (`| head`) is no failure. */
export async function printAll(texts: AsyncIterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(texts, { objectMode: false }), process.stdout, { end: false })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  }
}
