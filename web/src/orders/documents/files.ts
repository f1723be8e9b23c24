import { problemOf } from '../../api/problem.ts'
import { describeFailure } from '../../ui/describe.ts'
import type { OrderDocument } from '../order.ts'

/** As in the contract. */
const limitBytes = 5 * 1024 * 1024
export const mostDocuments = 5

/**
 * How the page shows a document; undefined if it cannot. The browser's viewer of PDF does not work in a
 * sandbox, so there the policy of the answer alone keeps scripts from running.
 */
export function wayToShow(
  { mediaType, erased }: Pick<OrderDocument, 'mediaType' | 'erased'>,
  hasPdfViewer: boolean,
): 'picture' | 'sandbox' | 'frame' | undefined {
  if (erased) return undefined
  if (mediaType.startsWith('image/')) return 'picture'
  if (mediaType === 'text/plain') return 'sandbox'
  return mediaType === 'application/pdf' && hasPdfViewer ? 'frame' : undefined
}

/** Why a file cannot be a document; undefined if it can. */
export function faultOfFile({ name, size }: Pick<File, 'name' | 'size'>): string | undefined {
  if (size === 0) return 'It is empty.'
  if (size > limitBytes) return 'It is larger than 5 MiB.'
  return [...name].length > 120 ? 'Its name has more than 120 characters.' : undefined
}

/** These files and further ones, as many as an order can have. A file of the same name takes its place. */
export function withFiles(before: readonly File[], further: readonly File[]): readonly File[] {
  const names = new Set(further.map(({ name }) => name))
  return [...before.filter(({ name }) => !names.has(name)), ...further].slice(0, mostDocuments)
}

/** Why a document was not added. */
export function whyNotAdded(failure: unknown): string {
  if (problemOf(failure, 'already-approved', 'order-not-pending')) {
    return 'Someone had already decided on the order.'
  }
  if (problemOf(failure, 'too-many-documents')) return `An order can have ${mostDocuments} documents.`
  const { title, detail } = describeFailure(failure)
  return `${title}. ${detail}`
}

const units = [
  ['MiB', 2 ** 20],
  ['KiB', 2 ** 10],
] as const

export function sizeInWords(bytes: number, write: (count: number) => string): string {
  const [unit, size] = units.find(([, each]) => bytes >= each) ?? [bytes === 1 ? 'byte' : 'bytes', 1]
  return `${write(Math.round((bytes / size) * 10) / 10)} ${unit}`
}
