import { bodyOf, booleanField, Fault, int32Field, listOf } from '../../http/fields.ts'
import { fromField } from '../schemas.ts'

const rowLimit = 20
const approvalsLimit = 5

export const policyRows = listOf(
  {
    from: fromField,
    approvals: int32Field(1, approvalsLimit, {
      pattern: `^[1-${approvalsLimit}]$`,
      description: `How many approvals an order needs, each from another account: 1 to ${approvalsLimit}.`,
      examples: [2],
    }),
    selfApproval: booleanField({
      description: 'Whether the creator may approve the order.',
      examples: [false],
    }),
    services: booleanField({
      description: 'Whether services may approve the order.',
      examples: [false],
    }),
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
export const ApprovalPolicy = bodyOf(
  'ApprovalPolicy',
  'How many approvals an order needs, by its total, and who may give them. The row that applies when an order is created is kept with the order.',
  { rows: policyRows },
)
