import { bodyOf, booleanField, Fault, int32Field, listOf } from '../../http/fields.ts'
import { fromField } from '../schemas.ts'

const rowLimit = 20
const approvalsLimit = 5

export const policyRows = listOf(
  {
    from: fromField,
    approvals: int32Field(1, approvalsLimit, {
      pattern: `^[1-${approvalsLimit}]$`,
      description: `Approvals that the order needs, each of somebody else: 1 to ${approvalsLimit}.`,
      examples: [2],
    }),
    selfApproval: booleanField({
      description: 'Whether who created the order may be one of those who approve it.',
      examples: [false],
    }),
    services: booleanField({
      description: 'Whether services may be among those who approve it.',
      examples: [false],
    }),
  },
  {
    limit: rowLimit,
    description: `1 to ${rowLimit} rows, by \`from\` ascending without two alike, the first from 0. The last whose \`from\` is not above an order’s total applies to that order.`,
    judge(entries, report) {
      for (const [index, { from }] of entries.entries()) {
        const before = entries[index - 1]?.from
        if (from === undefined) continue
        if (index === 0 && from !== 0) {
          report(index, 'from', new Fault('first', 'must be 0 in the first row.'))
        }
        if (before !== undefined && from <= before) {
          report(index, 'from', new Fault('order', 'must be greater than that of the row before.'))
        }
      }
    },
  },
)

/** What is answered is what is sent: no member is the server's own. */
export const ApprovalPolicy = bodyOf(
  'ApprovalPolicy',
  'From which total on an order needs how many approvals, and whose. The row that applies when an order is created holds for it ever after.',
  { rows: policyRows },
)
