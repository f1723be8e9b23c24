import { type Verdict, verdictOf } from '../proof/verdict.ts'

/** What one thing is worth that was added: sentences of each kind. */
export interface Finding {
  title: string
  proven: string[]
  wrong: string[]
  /** The files or keys that would prove more. */
  missing: string[]
  /** The words, as long as nobody vouches for them. */
  said: string[]
  /** Limits of any check of these files. */
  beyond: string[]
}

/** Undefined if there is nothing to check. */
export function verdictOn(findings: readonly Finding[]): Verdict | undefined {
  if (findings.length === 0) return undefined
  return verdictOf(
    findings.map(({ wrong, missing, proven }) => {
      return { faults: wrong, missing: proven.length > 0 ? missing : ['everything', ...missing] }
    }),
  )
}

/** Sentences without a title. */
export type Worth = Omit<Finding, 'title'>

export const nothingSaid: Worth = { proven: [], wrong: [], missing: [], said: [], beyond: [] }

/** All that is said, in this order. */
export function allOf(worths: readonly Worth[]): Worth {
  const together = (part: keyof Worth) => [...new Set(worths.flatMap((worth) => worth[part]))]
  return {
    proven: together('proven'),
    wrong: together('wrong'),
    missing: together('missing'),
    said: together('said'),
    beyond: together('beyond'),
  }
}
