import { readReceipt } from '../../proof/receipt.ts'
import type { Recorded } from './story.ts'

/**
 * The forms of all lines of the log, receipts, checkpoints and webhook messages, a line for each fact. Values
 * are left out, except kinds.
 */
export function formsOf({ log, receipts, checkpoint, messages }: Recorded): string[] {
  const lines = log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const facts = [
    ...lines.flatMap((line) => formOf(`line ${line.subject.kind} ${line.kind}`, line)),
    ...Object.values(receipts).flatMap((text) => [
      ...formOf('receipt', { ...readReceipt(text), lines: [] }),
      ...formOf('receipt header', JSON.parse(Buffer.from(text.split('.')[0] ?? '', 'base64url').toString())),
    ]),
    ...messages.flatMap(({ headers, body }) => {
      const start = `message ${(body as { type: string }).type}`
      return [...headers.map((name) => `${start} header ${name}`), ...formOf(start, body)]
    }),
    ...formOfNote('checkpoint', checkpoint),
  ]
  return [...new Set(facts)].sort()
}

function formOf(path: string, value: unknown): string[] {
  if (Array.isArray(value)) return [`${path} list`, ...value.flatMap((each) => formOf(`${path}[]`, each))]
  if (typeof value === 'object' && value !== null) {
    return [
      `${path} object`,
      ...Object.entries(value).flatMap(([name, each]) => formOf(`${path}.${name}`, each)),
    ]
  }
  if (typeof value !== 'string') return [`${path} ${value === null ? 'null' : typeof value}`]
  if (/^\{".*\}$/.test(value)) return formOf(`${path}{}`, JSON.parse(value))
  return value.includes('\n\n— ') ? formOfNote(path, value) : [`${path} text`]
}

/** A signed note: each line with its digits and letters as one. */
function formOfNote(path: string, note: string): string[] {
  const shape = note.replace(/[\w+/=.-]+/g, 'x').replace(/\n/g, '|')
  return [`${path} note ${shape}`]
}
