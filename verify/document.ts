import { DocumentSearch } from '../proof/document.ts'
import { describeApproved } from '../proof/words.ts'
import { allOf, type Finding, nothingSaid } from './finding.ts'
import { spelling } from './format.ts'
import type { KindOf } from './given.ts'
import type { CheckedLog } from './log.ts'
import type { CheckedReceipt } from './receipt.ts'

interface Around {
  receipts: readonly CheckedReceipt[]
  logs: readonly CheckedLog[]
}

/** Says whether the file is one that was approved, by the receipts and logs that are here. */
export function checkFile({ name, reason, sha256 }: KindOf<'unknown'>, { receipts, logs }: Around): Finding {
  if (sha256 === undefined || receipts.length + logs.length === 0) {
    const add = sha256 === undefined ? '' : ' If an order was approved with it, add the receipt or the log.'
    return { ...nothingSaid, title: name, missing: [`This page cannot check it: ${reason}.${add}`] }
  }
  const found = [
    ...receipts.flatMap(({ finding, judged }) => {
      const search = new DocumentSearch([sha256 ?? ''])
      for (const { line } of judged.receipt?.lines ?? []) search.see(line)
      return search.found.map((one) => ({
        one,
        isProven: finding.wrong.length === 0 && finding.proven.length > 0,
      }))
    }),
    ...logs.flatMap(({ documents, bound }) =>
      documents
        .filter((one) => one.sha256 === sha256)
        .map((one) => ({ one, isProven: one.approvals.every(({ sequence }) => sequence <= bound) })),
    ),
  ]
  if (found.length === 0) {
    return { ...nothingSaid, title: name, wrong: [`No approval here is about this file, and ${reason}.`] }
  }
  const worths = found.map(({ one, isProven }) => {
    const words = describeApproved('It', one, spelling)
    return isProven ? { ...nothingSaid, proven: words } : { ...nothingSaid, said: words }
  })
  return { title: name, ...allOf(worths) }
}
