import { readReceipt } from '../proof/receipt.ts'
import { checkCheckpoint } from './checkpoint.ts'
import { type Finding, nothingSaid } from './finding.ts'
import type { Given, KindOf } from './given.ts'
import { checkLog } from './log.ts'
import { checkProof } from './proof.ts'
import { checkReceipt } from './receipt.ts'

interface Around {
  /** Where this page comes from, unless that is a disk. */
  origin: string | undefined
  /** Gets the part of a log that is read, from 0 to 1. A throw ends the check. */
  progress(part: number): void
}

/** One finding for each thing to check, in their order; keys alone ask for nothing. */
export async function check(given: readonly Given[], { origin, progress }: Around): Promise<Finding[]> {
  const findings = new Map<Given, Finding>()
  const keys = [...ofKind(given, 'logKey'), ...ofKind(given, 'witnessKey')].map(({ key }) => key)
  const [receipts, proofs, keySets] = [
    ofKind(given, 'receipt'),
    ofKind(given, 'proof'),
    ofKind(given, 'keys'),
  ]
  const checkpoints = await each(ofKind(given, 'checkpoint'), findings, (one) => checkCheckpoint(one, keys))
  const wanted = new Set([...receipts.map(placeOf), ...proofs.map(({ proof }) => proof.index + 1)])
  const logs = await each(ofKind(given, 'log'), findings, (one) =>
    checkLog(one, { checkpoints, wanted }, progress),
  )
  await each(receipts, findings, (one) => checkReceipt(one, { keySets, keys, logs, origin }))
  await each(proofs, findings, (one) => checkProof(one, { keys, logs }))
  await each(ofKind(given, 'unknown'), findings, async ({ name, reason }) => {
    return { finding: { ...nothingSaid, title: name, missing: [`This page cannot check it: ${reason}.`] } }
  })
  return given.flatMap((one) => findings.get(one) ?? [])
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

/** The line of the log that has the approval, as far as the receipt says. */
function placeOf({ jws }: KindOf<'receipt'>): number {
  try {
    return readReceipt(jws).statement.line.sequence
  } catch {
    return 0
  }
}
