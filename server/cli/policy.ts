import { Fault, InnerFaults } from '../http/fields.ts'
import { decimalOf } from '../orders/order.ts'
import { policyRows } from '../orders/policy/schemas.ts'
import { findPolicy, type Policy, type PolicyRow, type SentRow } from '../orders/policy/store.ts'
import { completeRules, ruleNames, rules } from '../orders/rules.ts'
import type { Invocation, Outcome } from './command.ts'
import { commandStamp, withDatabase, withDatabaseToRead, withStranded } from './database.ts'
import { Refused, UsageError } from './failures.ts'
import { table } from './output.ts'

export async function runListPolicy(invocation: Invocation): Promise<Outcome> {
  const policy = await withDatabaseToRead(invocation, (db) => findPolicy(db.read))
  const command = `policy set ${policy.rows.map(wordOf).join(' ')}`
  return { value: toValue(policy), text: toTable(policy.rows), hint: `To change it, start from: ${command}` }
}

export async function runSetPolicy(invocation: Invocation): Promise<Outcome> {
  const sent = readRows(invocation.positionals)
  return withDatabase(invocation, async (db) => {
    const change = { rows: sent, acceptedVersions: null, stamp: commandStamp(), idempotency: null }
    const { result } = await db.write('setApprovalPolicy', change)
    const { version, changed, warnings } = result
    const rows = sent.map((row) => ({ from: row.from, ...completeRules(row) }))
    return withStranded(db, {
      value: { ...toValue({ version, rows }), changed, warnings },
      text: `${changed ? '' : 'Nothing to change:\n'}${toTable(rows)}`,
      ...(warnings.length > 0 && {
        hint: warnings.map(({ from, detail }) => `Warning: the row from ${from}: ${detail}`).join('\n'),
      }),
    })
  })
}

/** The rows, checked by the rules of the API. Throws `UsageError`, or `Refused` naming the first fault. */
function readRows(words: readonly string[]): SentRow[] {
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

/** The rules that are a word of a row. */
const worded = ruleNames.filter((name) => rules[name].kind !== 'count')
const required = worded.filter((name) => !('isOptional' in rules[name].field))

/** Those of the first version are required: a forgotten one must not decide who may approve. */
function readRow(text: string, index: number): Record<string, unknown> {
  const [, from, approvals, words = ''] = /^([^=,]+)=([^=,]+),(.+)$/.exec(text) ?? []
  const read = words.split(',').map(readWord)
  const values = Object.fromEntries(read.filter((entry) => entry !== undefined))
  const isWhole = required.every((name) => name in values) && Object.keys(values).length === read.length
  if (!isWhole) {
    const pattern = required.map((name) => rules[name].word).join()
    throw new UsageError(
      `row ${index + 1} must be FROM=APPROVALS,${pattern}, with no- before what is not allowed, such as 10000=2,no-self,no-services; role:NAME or no-role, and passkey or no-passkey, may follow`,
    )
  }
  return { from, approvals, ...values }
}

/** The rule and its value; undefined for any other word. */
function readWord(text: string): [name: string, value: unknown] | undefined {
  for (const name of worded) {
    const { kind, word } = rules[name]
    if (text === `no-${word}`) return [name, kind === 'flag' ? false : null]
    if (kind === 'flag' && text === word) return [name, true]
    if (kind === 'name' && text.startsWith(`${word}:`)) return [name, text.slice(word.length + 1)]
  }
  return undefined
}

function wordOf(row: PolicyRow): string {
  const words = worded.map((name) => {
    const { word } = rules[name]
    const value = row[name]
    if (value === false || value === null) return `no-${word}`
    return value === true ? word : `${word}:${value}`
  })
  return `${decimalOf(row.from)}=${[row.approvals, ...words].join()}`
}

function toTable(rows: readonly PolicyRow[]): string {
  const cellOf = (value: number | boolean | string | null) =>
    typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value ?? '-')
  return table(
    ['FROM', ...ruleNames.map((name) => rules[name].word.toUpperCase())],
    rows.map((row) => [decimalOf(row.from), ...ruleNames.map((name) => cellOf(row[name]))]),
  )
}

function toValue({ version, rows }: Policy) {
  return { version, rows: rows.map((row) => ({ ...row, from: row.from / 10_000 })) }
}
