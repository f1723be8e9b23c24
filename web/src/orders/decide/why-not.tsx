import { endInWords } from '../../ui/describe.ts'
import { type ActionName, nameOf, words } from '../states.ts'
import { stateAfter } from './actions.ts'
import { DecidedBy } from './decided-by.tsx'
import { failureOf, type Progress } from './decisions.ts'
import { endingOf, whyNot } from './words.ts'

/** Why an order was not decided on, and by whom it was if someone else was faster. */
export function WhyNot({ progress, action }: { progress: Progress; action: ActionName }) {
  const now = progress.kind === 'refused' ? progress.now?.order : undefined
  const ending = endingOf(progress, action)
  const state = now && nameOf(now.status)
  if (now && state && ending === state) {
    const { meaning } = words[state]
    return <DecidedBy what={state === stateAfter(action) ? `Already ${meaning}` : state} order={now} />
  }
  if (now) return <DecidedBy what="Changed" order={now} />
  return ending === 'failed' ? endInWords(failureOf(progress)) : whyNot(progress, action)
}
