import type { VerifierKey } from '../proof/note.ts'
import { contradictionsOf } from '../proof/verdict.ts'
import { checkCheckpoint } from './checkpoint.ts'
import { checkFile, documentsAmong, linesIn } from './document.ts'
import { type Finding, nothingSaid } from './finding.ts'
import { sentence } from './format.ts'
import type { Given, KindOf } from './given.ts'
import { checkLog } from './log.ts'
import { checkProof } from './proof.ts'
import { checkReceipt } from './receipt.ts'

export interface Checked {
  findings: Finding[]
  /** The keys on which all of it rests. */
  restsOn: VerifierKey[]
  /** The logs that the checkpoints in it are of, by origin. */
  origins: string[]
}

/**
 * One finding for each thing to check, in their order; keys alone ask for nothing. A document of an approved
 * order is nothing else. Only keys that somebody vouches for count. `progress` gets the part of a log that is
 * read, from 0 to 1; a throw ends the check.
 */
export async function check(given: readonly Given[], progress: (part: number) => void): Promise<Checked> {
  const findings = new Map<Given, Finding>()
  const documents = await documentsAmong(given)
  // A receipt may be the document of another one, and show documents itself.
  const others = given.filter((one) => !documents.has(one) || one.kind === 'receipt')
  const all = [...ofKind(others, 'logKey'), ...ofKind(others, 'witnessKey')]
  const keys = all.filter(({ from }) => from !== 'unknown')
  const [receipts, proofs, keySets] = [
    ofKind(others, 'receipt'),
    ofKind(others, 'proof'),
    ofKind(others, 'keys'),
  ]
  const checkpoints = await each(ofKind(others, 'checkpoint'), findings, (one) => checkCheckpoint(one, keys))
  const wanted = new Set([
    ...receipts.flatMap(linesIn).map(({ sequence }) => sequence),
    ...proofs.map(({ proof }) => proof.index + 1),
  ])
  const files = [...documents, ...ofKind(others, 'unknown')]
  const hashes = files.flatMap(({ sha256 }) => sha256 ?? [])
  const logs = await each(ofKind(others, 'log'), findings, (one) =>
    checkLog(one, { checkpoints, wanted, files: hashes }, progress),
  )
  const checkedReceipts = await each(receipts, findings, (one) => checkReceipt(one, { keySets, keys, logs }))
  const checkedProofs = await each(proofs, findings, (one) => checkProof(one, { keys, logs }))
  const judgements = [...checkedReceipts, ...checkedProofs].map(({ judged }) => judged)
  const approvals = checkedProofs.filter(({ judged: { line } }) => line?.kind === 'approved')
  const shown = [
    ...checkedReceipts.map(({ finding, judged: { receipt } }) => {
      return { finding, lines: receipt?.lines.map(({ line }) => line) ?? [] }
    }),
    ...approvals.map(({ finding, judged: { line } }) => ({ finding, lines: line ? [line] : [] })),
  ]
  for (const one of files) {
    const why = one.kind === 'unknown' ? one : { reason: 'what names it does not hold' }
    findings.set(one, checkFile(one, why, { shown, logs }))
  }
  const vouched = [...checkpoints, ...judgements.flatMap((one) => one.vouched ?? [])]
  const wrong = contradictionsOf(vouched).map(sentence)
  const together = wrong.length > 0 ? [{ ...nothingSaid, title: 'The checkpoints together', wrong }] : []
  return {
    findings: [...given.flatMap((one) => findings.get(one) ?? []), ...together],
    restsOn: [
      ...new Set(
        [...checkpoints.map(({ judged }) => judged), ...judgements].flatMap(({ restsOn }) => restsOn),
      ),
    ],
    origins: [...new Set(vouched.map(({ origin }) => origin))],
  }
}

const ofKind = <Kind extends Given['kind']>(given: readonly Given[], kind: Kind) =>
  given.filter((one): one is KindOf<Kind> => one.kind === kind)

/** Checks one after the other. A file that cannot be checked does not keep the others from it. */
async function each<Thing extends Given, Checked extends { finding: Finding }>(
  things: readonly Thing[],
  findings: Map<Given, Finding>,
  work: (thing: Thing) => Promise<Checked>,
): Promise<Checked[]> {
  const all: Checked[] = []
  for (const thing of things) {
    try {
      const checked = await work(thing)
      findings.set(thing, checked.finding)
      all.push(checked)
    } catch (error) {
      findings.set(thing, { ...nothingSaid, title: thing.name, ...worthOf(error) })
    }
  }
  return all
}

/** Only Web Crypto throws a DOMException here: it does not know the algorithm, or has no secure context. */
function worthOf(error: unknown): Partial<Finding> {
  if (error instanceof DOMException) return { missing: ['This browser cannot check it. Use a newer one.'] }
  return { wrong: [`It is not what it seems to be: ${(error as Error).message}.`] }
}
