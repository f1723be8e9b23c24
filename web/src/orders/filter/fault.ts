import { ProblemError, problemOf } from '../../api/problem.ts'
import { askedOf } from './days.ts'

/** A fault in a search text, and its place (UTF-16 units). */
export interface Fault {
  position: number
  length: number
  detail: string
  /** Texts that could be there, besides those in `detail`. */
  expected: readonly string[]
  /** The text to put in place of the faulty part, if the service has a guess. */
  suggestion?: string
}

/** Why a search was refused; `fault` if its place is known. */
export interface Refusal {
  detail: string
  fault?: Fault
}

/** Why the service refuses the typed search; `undefined` if the failure has another cause. */
export function refusalOf(failure: unknown, typed: string): Refusal | undefined {
  const invalid = problemOf(failure, 'invalid-filter')
  if (invalid) return faultOf(invalid, typed)
  if (problemOf(failure, 'filter-too-expensive')) {
    return {
      detail: 'This search takes too long. Narrow it with a status, a range of dates or a longer word.',
    }
  }
  if (problemOf(failure, 'uri-too-long', 'headers-too-large')) {
    return { detail: 'This search is too long to send. Shorten it.' }
  }
  if (!(failure instanceof ProblemError) || failure.problem.code !== 'validation-failed') return undefined
  const details = (failure.problem.errors ?? []).map(({ parameter, detail }) =>
    `${parameter ?? ''} ${detail}`.trim(),
  )
  return { detail: `The address is not valid. ${details.join(' ')}`.trim() }
}

function faultOf(
  problem: NonNullable<ReturnType<typeof problemOf<'invalid-filter'>>>,
  typed: string,
): Refusal {
  const [error] = problem.errors ?? []
  if (error?.position === undefined) return { detail: problem.detail }
  const { position, length = 0, detail, expected = [], suggestion } = error
  const unsaid = expected.filter((word) => !detail.includes(word))
  const place = askedOf(typed).typedPart({ position, length })
  return { detail, fault: { ...place, detail, expected: unsaid, ...(suggestion && { suggestion }) } }
}

/** Whether the text may become valid when more is typed. */
export function isUnfinished({ position, length }: Fault, text: string): boolean {
  return position + length >= text.trimEnd().length
}

/**
 * From where to where the text is marked. A fault without a length marks the character there, or the end.
 */
export function markOf(
  text: string,
  fault: Pick<Fault, 'position' | 'length'> | undefined,
): [number, number] {
  const from = Math.min(fault?.position ?? text.length, text.length)
  return [from, Math.min(from + Math.max(fault?.length ?? 0, 1), text.length)]
}
