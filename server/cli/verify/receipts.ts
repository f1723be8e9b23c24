import { readFileSync } from 'node:fs'
import { accountIn, type LogLine } from '../../../proof/line.ts'
import { lineOfProof } from '../../../proof/log.ts'
import { readProof, startOfProof } from '../../../proof/note.ts'
import { type Vouched, verifyLineProof, verifyProof } from '../../../proof/proof.ts'
import { readReceipt, type Statement, verifyReceipt } from '../../../proof/receipt.ts'
import { Refused } from '../failures.ts'
import { headOf, type Kept } from './checkpoints.ts'
import {
  cosignaturesOf,
  type GivenKeys,
  type KeySet,
  requireCosigned,
  requireSigned,
  verifierKeysOf,
} from './keys.ts'

/** The facts of a valid receipt. */
export interface Receipt {
  file: string
  line: LogLine
  /** The checkpoint to which the proof of the line leads. */
  vouched: Vouched
  /** Null for a tlog-proof, which has the line alone. */
  signed: Signed | null
}

interface Signed {
  statement: Statement
  keyId: string
  by: KeySet
}

/** Throws `Refused` for the first receipt that is not valid or has no key. */
export async function readReceipts(files: readonly string[], keys: GivenKeys): Promise<Receipt[]> {
  const receipts: Receipt[] = []
  for (const file of files) {
    const text = readFileSync(file, 'utf8').trim()
    const receipt = await readOne(file, text, keys).catch((cause: Error) => {
      if (cause instanceof Refused) throw cause
      throw new Refused('bad-receipt', `${file} is not valid: ${cause.message}`, { cause })
    })
    requireCosigned(`the checkpoint of ${file}`, [receipt.vouched], keys)
    receipts.push(receipt)
  }
  return receipts
}

async function readOne(file: string, text: string, keys: GivenKeys): Promise<Receipt> {
  const shown = text.startsWith(startOfProof)
    ? await shownByProof(file, text, keys)
    : await shownByReceipt(file, jwsOf(file, text), keys)
  requireSigned(shown.vouched, keys)
  return { file, ...shown }
}

type Shown = Omit<Receipt, 'file'>

async function shownByProof(file: string, text: string, keys: GivenKeys): Promise<Shown> {
  if (keys.logs.length === 0) throw keyNeeded(file, 'the key of the log (--log-key KEY)')
  const proof = readProof(`${text}\n`)
  const vouched = await verifyProof(proof, verifierKeysOf(keys))
  return { line: lineOfProof(proof), vouched, signed: null }
}

async function shownByReceipt(file: string, jws: string, keys: GivenKeys): Promise<Shown> {
  if (keys.services.length === 0) throw keyNeeded(file, 'the keys of the service (--jwks FILE)')
  const signed = await signedBy(jws, keys)
  const vouched = await verifyLineProof(signed.statement, verifierKeysOf(keys))
  return { line: signed.statement.line, vouched, signed }
}

const keyNeeded = (file: string, key: string) =>
  new Refused('key-needed', `${file} cannot be checked without ${key}`)

/** The text itself, or its place in the answer of the service. */
function jwsOf(file: string, text: string): string {
  const jws = text.startsWith('{') ? JSON.parse(text).receipt : text
  if (typeof jws === 'string' && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(jws)) return jws
  throw new Refused('bad-receipt', `${file} is neither a receipt nor a tlog-proof`)
}

/** Throws an Error: the reason of the key set that has the key, otherwise of the first one. */
async function signedBy(jws: string, keys: GivenKeys): Promise<Signed> {
  const { statement, keyId } = readReceipt(jws)
  const named = keys.services.filter(({ jwks }) => jwks.keys.some(({ kid }) => kid === keyId))
  const reasons: Error[] = []
  for (const by of named.length > 0 ? named : keys.services) {
    try {
      const signed = { statement: await verifyReceipt(jws, by.jwks, statement.iss), keyId, by }
      keys.used.add(by)
      return signed
    } catch (reason) {
      reasons.push(reason as Error)
    }
  }
  throw reasons[0]
}

export const keptBy = ({ file, vouched }: Receipt): Kept => ({ ...headOf(vouched), name: file })

/** Says in sentences what the receipt proves. */
export function describeReceipt(receipt: Receipt, keys: GivenKeys): string[] {
  const { file, line, vouched, signed } = receipt
  const { origin, size } = vouched
  const place = `line ${line.sequence} of ${origin}, which had ${size} events`
  const cosigned = cosignaturesOf('its checkpoint', [vouched], keys)
  if (signed === null) {
    const { kind, atUtc, subject } = line
    const what = `${place}, says ${kind} by ${accountIn(line.byId)} on ${atUtc}, about ${subject.kind} ${subject.id}`
    return [printable(`${file} is valid: ${what}.`), ...cosigned]
  }
  const { statement, keyId, by } = signed
  const { number, customer, total } = statement.order
  return [
    `${file} is valid: order #${number} for ${customer} has a total of ${total}.`,
    ...statement.approvals.map(approvalOf),
    `The key ${keyId} of ${by.file} signed this for ${statement.iss}.`,
    `The approval is ${place}.`,
    ...cosigned,
  ].map(printable)
}

function approvalOf({ by, for: absent, atUtc, signature }: Statement['approvals'][number]): string {
  const instead = absent === null ? '' : ` in the place of ${absent}`
  const touch = signature === null ? '' : `, and signed it with the passkey “${signature.passkey.name}”`
  return `${by} approved it${instead} on ${atUtc}${touch}.`
}

/** A name of another service may have control characters, which a terminal would obey. */
const printable = (sentence: string) => sentence.replaceAll(/\p{Cc}/gu, '\ufffd')

/** For scripts. */
export function receiptForScripts({ file, line, vouched, signed }: Receipt) {
  const { origin, size, cosigned } = vouched
  return {
    file,
    order: line.subject.id,
    sequence: line.sequence,
    origin,
    size,
    issuer: signed?.statement.iss ?? null,
    cosigned: cosigned.map(({ key }) => key.name),
  }
}
