import { createReadStream } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { Refused } from '../failures.ts'

/** A record of a CSV file, by the number of its first line. */
export interface CsvRecord {
  line: number
  cells: string[]
}

/** A thousand users take a tenth of it. */
const bytesLimit = 1_048_576
const cell = /(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))(,|\r?\n)/y

/** The records of a CSV file (RFC 4180) except blank lines. Throws `Refused`. */
export async function readCsv(file: string): Promise<CsvRecord[]> {
  const text = await textOf(file)
  const records: CsvRecord[] = []
  let record: CsvRecord = { line: 1, cells: [] }
  let line = 1
  cell.lastIndex = 0
  while (cell.lastIndex < text.length) {
    const found = cell.exec(text)
    if (found === null) {
      throw new Refused('bad-file', `${file}:${line} is not CSV: close each quote, and double those inside`)
    }
    const [whole, quoted, plain = '', end] = found
    record.cells.push(quoted?.replaceAll('""', '"') ?? plain)
    line += whole.split('\n').length - 1
    if (end === ',') continue
    if (record.cells.join('') !== '') records.push(record)
    record = { line, cells: [] }
  }
  return records
}

/** Ends with a line feed, and without the byte-order mark. */
async function textOf(file: string): Promise<string> {
  const bytes = await buffer(createReadStream(file, { end: bytesLimit }))
  if (bytes.length > bytesLimit) throw new Refused('bad-file', `${file} is larger than ${bytesLimit} bytes`)
  try {
    return `${new TextDecoder('utf-8', { fatal: true }).decode(bytes)}\n`
  } catch (error) {
    throw new Refused('bad-file', `${file} is not UTF-8`, { cause: error })
  }
}
