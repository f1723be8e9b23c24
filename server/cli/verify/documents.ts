import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { ApprovedDocument } from '../../../proof/document.ts'
import { describeApproved, printable } from '../../../proof/words.ts'
import { Refused } from '../failures.ts'
import { plain } from './receipts.ts'

/** A file that may be a document of an approved order. */
export interface GivenDocument {
  file: string
  sha256: string
}

export async function readDocuments(files: readonly string[]): Promise<GivenDocument[]> {
  const documents: GivenDocument[] = []
  for (const file of files) {
    const hash = createHash('sha256')
    await pipeline(createReadStream(file), hash)
    documents.push({ file, sha256: hash.digest('hex') })
  }
  return documents
}

/** Throws `Refused` if no approval names one of the files. */
export function requireApproved(given: readonly GivenDocument[], found: readonly ApprovedDocument[]): void {
  const other = given.find(({ sha256 }) => !found.some((one) => one.sha256 === sha256))
  if (other === undefined) return
  throw new Refused(
    'document-not-approved',
    `${other.file} is not valid: no approval in what was given is about it`,
  )
}

export function describeDocuments(
  given: readonly GivenDocument[],
  found: readonly ApprovedDocument[],
): string[] {
  return given.flatMap(({ file, sha256 }) =>
    found
      .filter((one) => one.sha256 === sha256)
      .flatMap((one) => describeApproved(file, one, plain))
      .map(printable),
  )
}

export function documentsForScripts(given: readonly GivenDocument[], found: readonly ApprovedDocument[]) {
  return given.map(({ file, sha256 }) => ({
    ...{ file, sha256 },
    orders: found
      .filter((one) => one.sha256 === sha256)
      .map(({ orderId, approvals }) => ({
        order: orderId,
        approvals: approvals.map(({ sequence, by, for: absent, isSigned }) => {
          return { sequence, byId: by.id, forId: absent?.id ?? null, signed: isSigned }
        }),
      })),
  }))
}
