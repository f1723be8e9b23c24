import { endInWords } from '../../ui/describe.ts'
import { failureOf } from '../outbox.ts'
import type { ActionName } from '../states.ts'
import { DecidedBy } from './decided-by.tsx'
import type { Progress } from './decisions.ts'
import { endingOf, otherDecision, whyNot } from './words.ts'

/** Why an order was not decided on, and who decided on it if someone else was faster. */
export function WhyNot({ progress, action }: { progress: Progress; action: ActionName }) {
  const other = otherDecision(progress, action)
  if (other) return <DecidedBy {...other} />
  return endingOf(progress, action) === 'failed' ? endInWords(failureOf(progress)) : whyNot(progress, action)
}
