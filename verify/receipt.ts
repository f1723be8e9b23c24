import type { ApprovedOrder } from '../proof/order.ts'
import { type JudgedReceipt, judgeJws } from '../proof/verdict.ts'
import { describeOrder, nameOf } from '../proof/words.ts'
import { isolated } from '../rules/isolate.ts'
import { boundsOf, findingOf, type GivenKey } from './checkpoint.ts'
import { allOf, type Finding, nothingSaid } from './finding.ts'
import { formatCount, inSeries, sentence, spelling } from './format.ts'
import type { KindOf } from './given.ts'
import { type CheckedLog, worthInLogs } from './log.ts'

interface Around {
  keySets: readonly KindOf<'keys'>[]
  /** Those of logs and of witnesses. */
  keys: readonly GivenKey[]
  logs: readonly CheckedLog[]
}

export interface CheckedReceipt {
  finding: Finding
  judged: JudgedReceipt
}

/** How a receipt is judged is said in proof/; this page says it in sentences, and looks it up in each log. */
export async function checkReceipt(
  { name, jws }: KindOf<'receipt'>,
  { keySets, keys, logs }: Around,
): Promise<CheckedReceipt> {
  const judged = await judgeJws(
    jws,
    keys.map(({ key }) => key),
    keySets,
  )
  const { order, receipt, vouched } = judged
  if (order === undefined || receipt === undefined || vouched === undefined) {
    return { finding: { ...nothingSaid, title: name, wrong: judged.faults.map(sentence) }, judged }
  }
  const { origin, size } = vouched
  const place = `The approval is line ${formatCount(order.sequence)} of the log ${isolated(origin)}, which had ${formatCount(size)} lines.`
  const words = [...describeOrder(order, spelling), place]
  const logged = receipt.lines.map(({ line }) =>
    worthInLogs(line, { what: 'the one of the receipt', origin, logs }),
  )
  const beyond = [...limitsOf(order, logs), ...boundsOf(vouched, keys)]
  const title = `Receipt of order #${order.number} from ${receipt.iss}`
  const finding = { title, ...allOf([findingOf(judged, words), ...logged, { ...nothingSaid, beyond }]) }
  return { finding, judged }
}

function limitsOf({ approvals }: ApprovedOrder, logs: readonly CheckedLog[]): string[] {
  const peopleWho = (isSigned: boolean) => {
    const those = approvals.filter(({ signature }) => (signature !== null) === isSigned)
    return inSeries(those.map(({ by }) => isolated(nameOf(by))))
  }
  const [signers, others] = [peopleWho(true), peopleWho(false)]
  return [
    ...(signers ? [`That the passkey belongs to ${signers}. The service says so.`] : []),
    ...(signers && logs.length === 0
      ? ['That no passkey was removed before it signed. Only an export of the log can show that.']
      : []),
    ...(others ? [`That ${others} approved it in person. The service says so; no passkey signed it.`] : []),
  ]
}
