import { readFileSync } from 'node:fs'
import { accountIn, type LogLine } from '../../../proof/line.ts'
import { readProof, startOfProof } from '../../../proof/note.ts'
import type { Vouched } from '../../../proof/proof.ts'
import { receiptIn } from '../../../proof/receipt.ts'
import {
  type JudgedLine,
  type JudgedReceipt,
  judgeJws,
  judgeProof,
  placeInLog,
} from '../../../proof/verdict.ts'
import { conditionOf, describeOrder, printable, type Spelling } from '../../../proof/words.ts'
import { Refused } from '../failures.ts'
import { headOf, type Kept } from './checkpoints.ts'
import { cosignaturesOf, type GivenKeys, requireValid, verifierKeysOf } from './keys.ts'

/** A receipt or a tlog-proof that is valid. */
export interface Receipt {
  file: string
  /** The approval, or the one line of a tlog-proof. */
  line: LogLine
  /** All that it shows. */
  lines: LogLine[]
  /** The checkpoint to which the proofs of its lines lead. */
  vouched: Vouched
  judged: JudgedReceipt | JudgedLine
}

/** Throws `Refused` for the first receipt that is not valid, or cannot be checked with these keys. */
export async function readReceipts(files: readonly string[], keys: GivenKeys): Promise<Receipt[]> {
  const receipts: Receipt[] = []
  for (const file of files) {
    const judged = await judge(file, readFileSync(file, 'utf8').trim(), keys)
    requireValid('receipt', file, judged, keys)
    const { vouched } = judged
    const lines = linesOf(judged)
    const line = lines.at(-1)
    // It is valid, so it has both.
    if (line !== undefined && vouched !== undefined) receipts.push({ file, line, lines, vouched, judged })
  }
  return receipts
}

function linesOf(judged: JudgedReceipt | JudgedLine): LogLine[] {
  if ('line' in judged) return judged.line === undefined ? [] : [judged.line]
  return judged.receipt?.lines.map(({ line }) => line) ?? []
}

/** Throws `Refused` unless the log has each line that the receipt shows. */
export function requireShown({ file, lines, vouched }: Receipt, log: Parameters<typeof placeInLog>[2]): void {
  for (const line of lines) {
    const found = placeInLog(line, vouched.origin, log)
    if (found === 'same') continue
    if (typeof found === 'object') {
      const lost = `line ${line.sequence} was lost by the restore of line ${found.sequence}`
      throw new Refused('not-checked', `${file} is not checked yet: ${lost}`)
    }
    throw new Refused(
      'bad-receipt',
      `${file} is not valid: line ${line.sequence} of the log is something else`,
    )
  }
}

async function judge(file: string, text: string, keys: GivenKeys): Promise<JudgedReceipt | JudgedLine> {
  const given = verifierKeysOf(keys)
  if (text.startsWith(startOfProof)) return judgeProof(proofIn(file, text), given)
  const services = keys.services.map(({ jwks }) => jwks)
  const judged = await judgeJws(jwsOf(file, text), given, services)
  for (const set of keys.services) if (judged.signedBy.includes(set.jwks)) keys.used.add(set)
  return judged
}

function proofIn(file: string, text: string) {
  try {
    return readProof(`${text}\n`)
  } catch (cause) {
    throw new Refused('bad-receipt', `${file} is not valid: ${(cause as Error).message}`, { cause })
  }
}

/** The text itself, or its place in the answer of the service or in a saved certificate. */
function jwsOf(file: string, text: string): string {
  const jws = receiptIn(text)
  if (jws !== undefined) return jws
  throw new Refused('bad-receipt', `${file} is neither a receipt nor a tlog-proof`)
}

export const keptBy = ({ file, vouched }: Receipt): Kept => ({ ...headOf(vouched), name: file })

export const plain: Spelling = { total: (total) => total, instant: (atUtc) => atUtc, name: (name) => name }

/** Says in sentences what the receipt proves, and what that rests on. */
export function describeReceipt({ file, line, vouched, judged }: Receipt, keys: GivenKeys): string[] {
  const { origin, size } = vouched
  const condition = conditionOf(judged.restsOn, ({ name, id }) => `${name}+${id}`)
  const words =
    'line' in judged ? [describeLine(line)] : judged.order ? describeOrder(judged.order, plain) : []
  return [
    `${file} is valid, ${condition}.`,
    ...words,
    `${'line' in judged ? 'It' : 'The approval'} is line ${line.sequence} of ${origin}, which had ${size} events.`,
    ...cosignaturesOf('its checkpoint', [vouched], keys),
  ].map(printable)
}

function describeLine({ kind, atUtc, byId, subject }: LogLine): string {
  return `The line says ${kind} by ${accountIn(byId)} on ${atUtc}, about ${subject.kind} ${subject.id}.`
}

export function receiptForScripts({ file, line, vouched, judged }: Receipt) {
  const { origin, size, cosigned } = vouched
  return {
    file,
    order: line.subject.id,
    sequence: line.sequence,
    origin,
    size,
    issuer: 'line' in judged ? null : (judged.receipt?.iss ?? null),
    cosigned: cosigned.map(({ key }) => key.name),
  }
}
