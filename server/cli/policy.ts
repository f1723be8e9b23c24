import { Fault, InnerFaults } from '../http/fields.ts'
import { decimalOf } from '../orders/order.ts'
import { policyRows } from '../orders/policy/schemas.ts'
import { findPolicy, type Policy, type PolicyRow } from '../orders/policy/store.ts'
import type { Invocation, Outcome } from './command.ts'
import { commandStamp, withDatabase } from './database.ts'
import { Refused, UsageError } from './failures.ts'
import { table } from './output.ts'

export async function runListPolicy(invocation: Invocation): Promise<Outcome> {
  const policy = await withDatabase(invocation, (db) => findPolicy(db.read))
  const command = `policy set ${policy.rows.map(wordOf).join(' ')}`
  return { value: toValue(policy), text: toTable(policy.rows), hint: `To change it, start from: ${command}` }
}

export async function runSetPolicy(invocation: Invocation): Promise<Outcome> {
  const rows = readRows(invocation.positionals)
  const { result } = await withDatabase(invocation, (db) =>
    db.write('setApprovalPolicy', { rows, acceptedVersions: null, stamp: commandStamp(), idempotency: null }),
  )
  const { version, changed } = result
  return {
    value: { ...toValue({ version, rows }), changed },
    text: `${changed ? '' : 'Nothing to change:\n'}${toTable(rows)}`,
  }
}

const rowPattern = /^([^=,]+)=([^=,]+),(?:(no-)?self,(no-)?services|(no-)?services,(no-)?self)$/

/** The rows, by the rules of the API. Throws `UsageError`, or `Refused` naming the first fault. */
function readRows(words: readonly string[]): PolicyRow[] {
  if (words.length === 0) throw new UsageError('a row is missing, such as 0=1,self,services')
  const read = policyRows.read(words.map(readRow))
  if (!(read instanceof Fault)) return read
  const [first] = read instanceof InnerFaults ? read.errors : []
  const row = Number(first?.pointer?.split('/')[1]) + 1
  throw new Refused(
    'invalid-policy',
    first === undefined ? `the policy ${read.detail}` : `row ${row}: ${first.detail}`,
  )
}

/** Both words are required: a forgotten one must not decide who may approve. */
function readRow(word: string, index: number): Record<keyof PolicyRow, unknown> {
  const match = rowPattern.exec(word)
  if (match === null) {
    throw new UsageError(
      `row ${index + 1} must be FROM=APPROVALS,self,services, with no- before what is not allowed, such as 10000=2,no-self,no-services`,
    )
  }
  const [, from, approvals, noSelf = match[6], noServices = match[5]] = match
  return { from, approvals, selfApproval: noSelf === undefined, services: noServices === undefined }
}

function wordOf({ from, approvals, selfApproval, services }: PolicyRow): string {
  return `${decimalOf(from)}=${approvals},${selfApproval ? '' : 'no-'}self,${services ? '' : 'no-'}services`
}

function toTable(rows: readonly PolicyRow[]): string {
  const answer = (yes: boolean) => (yes ? 'yes' : 'no')
  return table(
    ['FROM', 'APPROVALS', 'SELF', 'SERVICES'],
    rows.map((row) => [
      decimalOf(row.from),
      String(row.approvals),
      answer(row.selfApproval),
      answer(row.services),
    ]),
  )
}

function toValue({ version, rows }: Policy) {
  return { version, rows: rows.map((row) => ({ ...row, from: row.from / 10_000 })) }
}
