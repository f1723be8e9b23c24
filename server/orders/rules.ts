import { type RawBuilder, sql } from '#kysely'
import type { RuleColumns } from '../db/tables.ts'
import { booleanField, type Field, int32Field, orNull, type Values } from '../http/fields.ts'
import { nameField } from '../http/text.ts'

/** Set by the check of the column. */
const approvalsLimit = 5

interface RuleFacts<Value> {
  /** The column in the policy, and in each order that was stamped with it. */
  column: keyof RuleColumns
  field: Field<Value>
  /** How it is stored: a flag as 1 or 0, a name as it is or null. */
  kind: 'count' | 'flag' | 'name'
  /** The word at the command line: `word`, `word:NAME`, or `no-word` for what is off or null. */
  word: string
}

/** A rule that clients of an earlier version leave out. */
const addedLater = <T>(field: Field<T>): Field<T | undefined> => ({
  ...field,
  isOptional: true,
  tellsAbsence: true,
})

const nullable = <T>({ schema, read }: Field<T>): Field<T | null> => ({
  schema: orNull(schema),
  read: (value) => (value === null ? null : read(value)),
})

/** The rules in a row of the approval policy, besides the total it begins at, under the names of the wire. */
export const rules = {
  approvals: {
    column: 'approvals_needed',
    kind: 'count',
    word: 'approvals',
    field: int32Field(1, approvalsLimit, {
      pattern: `^[1-${approvalsLimit}]$`,
      description: `How many approvals an order needs, each from another account: 1 to ${approvalsLimit}.`,
      examples: [2],
    }),
  },
  selfApproval: {
    column: 'self_approval',
    kind: 'flag',
    word: 'self',
    field: booleanField('Whether the creator may approve the order.', false),
  },
  services: {
    column: 'service_approval',
    kind: 'flag',
    word: 'services',
    field: booleanField('Whether services may approve the order.', false),
  },
  role: {
    column: 'role_needed',
    kind: 'name',
    word: 'role',
    field: addedLater(
      nullable(
        nameField('A role that at least one approver must hold when approving; null for none.', 'Finance'),
      ),
    ),
  },
  passkey: {
    column: 'passkey_needed',
    kind: 'flag',
    word: 'passkey',
    field: addedLater(booleanField('Whether each approval must be signed with a passkey.', false)),
  },
} as const satisfies Record<string, RuleFacts<unknown>>

type RuleName = keyof typeof rules
export const ruleNames = Object.keys(rules) as RuleName[]
export const ruleFields = Object.fromEntries(ruleNames.map((name) => [name, rules[name].field])) as {
  [Name in RuleName]: (typeof rules)[Name]['field']
}
/** As a client sends them: undefined if it leaves one out. */
export type SentRules = Values<typeof ruleFields>
/** Values with which an order is stamped when it is created. */
export type Rules = { [Name in RuleName]: Exclude<SentRules[Name], undefined> }

/** The user's rule: one approval, from anyone. */
export const firstRules: Rules = {
  approvals: 1,
  selfApproval: true,
  services: true,
  role: null,
  passkey: false,
}

/** A rule that is left out restricts nobody. */
export function completeRules(sent: SentRules): Rules {
  return Object.fromEntries(ruleNames.map((name) => [name, sent[name] ?? firstRules[name]])) as Rules
}

/** All columns, as the list of a statement. */
export const ruleColumns: RawBuilder<unknown> = sql.join(ruleNames.map((name) => sql.ref(rules[name].column)))

export function storedRules(values: Rules): RuleColumns {
  const columns = ruleNames.map((name) => {
    const value = values[name]
    return [rules[name].column, rules[name].kind === 'flag' ? Number(value) : value]
  })
  return Object.fromEntries(columns) as unknown as RuleColumns
}

export function rulesOf(row: RuleColumns): Rules {
  const values = ruleNames.map((name) => {
    const stored = row[rules[name].column]
    return [name, rules[name].kind === 'flag' ? stored === 1 : stored]
  })
  return Object.fromEntries(values) as Rules
}
