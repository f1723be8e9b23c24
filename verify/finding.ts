/** What one thing is worth that was added: sentences of each kind. */
export interface Finding {
  title: string
  proven: string[]
  wrong: string[]
  /** The files or keys that would prove more. */
  missing: string[]
  /** Limits of any check of these files. */
  beyond: string[]
}

export type Verdict = 'nothing' | 'proven' | 'missing' | 'wrong'

/** `proven` only if there is something to check, and all of it holds. */
export function verdictOf(findings: readonly Finding[]): Verdict {
  if (findings.length === 0) return 'nothing'
  if (findings.some(({ wrong }) => wrong.length > 0)) return 'wrong'
  return findings.every(({ proven, missing }) => proven.length > 0 && missing.length === 0)
    ? 'proven'
    : 'missing'
}

/** Sentences without a title. */
export type Worth = Omit<Finding, 'title'>

export const nothingSaid: Worth = { proven: [], wrong: [], missing: [], beyond: [] }

/** All that is said, in this order. */
export function allOf(worths: readonly Worth[]): Worth {
  const together = (part: keyof Worth) => worths.flatMap((worth) => worth[part])
  return {
    proven: together('proven'),
    wrong: together('wrong'),
    missing: together('missing'),
    beyond: together('beyond'),
  }
}
