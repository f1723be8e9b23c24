import { DocumentSearch } from '../proof/document.ts'
import type { LogLine } from '../proof/line.ts'
import { lineFrom, lineOfProof } from '../proof/log.ts'
import { readReceipt } from '../proof/receipt.ts'
import { describeApproved } from '../proof/words.ts'
import { allOf, type Finding, nothingSaid } from './finding.ts'
import { spelling } from './format.ts'
import type { Given, KindOf } from './given.ts'
import { type CheckedLog, chunksOf } from './log.ts'

interface Around {
  /** The receipts, and the proofs of approvals. */
  shown: readonly { finding: Finding; lines: readonly LogLine[] }[]
  logs: readonly CheckedLog[]
}

/**
 * Those of the given files that are documents of approved orders, by the receipts, proofs and logs among
 * them, whatever they look like. These need not hold: checking them shows that.
 */
export async function documentsAmong(given: readonly Given[]): Promise<ReadonlySet<Given>> {
  const wanted = given.flatMap(({ sha256 }) => sha256 ?? [])
  const search = new DocumentSearch(wanted)
  for (const one of given) {
    if (one.kind === 'receipt' || one.kind === 'proof') for (const line of linesIn(one)) search.see(line)
    if (one.kind === 'log') for await (const line of linesWith(wanted, one.lines)) search.see(line)
  }
  const found = new Set(search.found.map(({ sha256 }) => sha256))
  return new Set(given.filter(({ sha256 }) => sha256 !== undefined && found.has(sha256)))
}

/** The lines of the log that the receipt or proof has, as far as it can be read. */
export function linesIn(one: KindOf<'receipt' | 'proof'>): LogLine[] {
  try {
    if (one.kind === 'proof') return [lineOfProof(one.proof)]
    return readReceipt(one.jws).lines.map(({ line }) => line)
  } catch {
    return []
  }
}

/** The lines with one of the texts. */
async function* linesWith(texts: readonly string[], content: Blob): AsyncGenerator<LogLine> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunksOf(content, () => undefined)) {
    const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines.filter((each) => texts.some((text) => each.includes(text)))) {
      try {
        yield lineFrom(JSON.parse(line))
      } catch {
        // It does not fit, which checking the log shows.
      }
    }
  }
}

/** Says whether the file is one that was approved, by the receipts, proofs and logs that are here. */
export function checkFile(
  { name, sha256 }: Given,
  { reason, isBroken }: Pick<KindOf<'unknown'>, 'reason' | 'isBroken'>,
  { shown, logs }: Around,
): Finding {
  const found = [
    ...shown.flatMap(({ finding, lines }) => {
      const search = new DocumentSearch([sha256 ?? ''])
      for (const line of lines) search.see(line)
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
  if (found.length === 0 && (isBroken || shown.length + logs.length === 0)) {
    const add = isBroken ? '' : ' If an order was approved with it, add the receipt or the log.'
    return { ...nothingSaid, title: name, missing: [`This page cannot check it: ${reason}.${add}`] }
  }
  if (found.length === 0) {
    return { ...nothingSaid, title: name, wrong: [`No approval here is about this file, and ${reason}.`] }
  }
  const worths = found.map(({ one, isProven }) => {
    const words = describeApproved('It', one, spelling)
    return isProven ? { ...nothingSaid, proven: words } : { ...nothingSaid, said: words }
  })
  return { title: name, ...allOf(worths) }
}
