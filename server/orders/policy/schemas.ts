import { answerOf, int32, text } from '../../http/answers.ts'
import { exactBodyOf, Fault, listOf } from '../../http/fields.ts'
import { Type } from '../../http/schema.ts'
import { ruleFields } from '../rules.ts'
import { fromField } from '../schemas.ts'
import { warningCodes } from './warnings.ts'

const rowLimit = 20

export const policyRows = listOf(
  {
    from: fromField,
    ...ruleFields,
  },
  {
    limit: rowLimit,
    description: `1 to ${rowLimit} rows in ascending order of \`from\`, which starts at 0 and never repeats. The last row whose \`from\` is not above the total of an order applies to it.`,
    judge(entries, report) {
      for (const [index, { from }] of entries.entries()) {
        const before = entries[index - 1]?.from
        if (from === undefined) continue
        if (index === 0 && from !== 0) {
          report(index, 'from', new Fault('first', 'must be 0 in the first row.'))
        }
        if (before !== undefined && from <= before) {
          report(index, 'from', new Fault('order', 'must be greater than in the row before.'))
        }
      }
    },
  },
)

/** Both the answer and the body of a change. */
export const ApprovalPolicy = exactBodyOf(
  'ApprovalPolicy',
  'How many approvals an order needs, by its total, and who may give them. The row that applies when an order is created is kept with the order.',
  { rows: policyRows },
)

const warning = {
  from: Type.Unsafe<number>({ type: 'number', description: 'Where the row begins.', examples: [10_000] }),
  code: text(`Why: ${warningCodes.join(', ')}. More may be added.`, 'too-few'),
  detail: text('Why, in words.', '3 approvals are needed, but only 2 people may approve orders.'),
}

export const SetApprovalPolicyResponse = answerOf('SetApprovalPolicyResponse', undefined, {
  warnings: Type.Array(Type.Object(warning), {
    description: 'Rows that too few enabled accounts could satisfy now, or that depend on one account.',
  }),
})

const pendingOrders = int32('How many pending orders have the same rules as the row.', 12)

export const PolicyWarnings = answerOf('PolicyWarnings', undefined, {
  warnings: Type.Array(Type.Object({ ...warning, pendingOrders })),
})
