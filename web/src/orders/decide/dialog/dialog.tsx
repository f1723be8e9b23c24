import type { ActionName } from '../../states.ts'
import type { Subject } from '../decisions.ts'
import { DecideOne } from './one.tsx'
import { backOf, useRun } from './run.ts'
import { DecideSeveral } from './several.tsx'

interface DecisionDialogProps {
  action: ActionName
  /** 1 to 100 orders to approve, or one order for any other action. Fixed when the dialog opens. */
  subjects: readonly Subject[]
  /**
   * Called with the orders decided so far. A later result is announced, and the views fetch it by
   * themselves.
   */
  onClose(result: { decided: string[] }): void
}

/**
 * Asks whether to approve, reject or withdraw, does so, and shows the result.
 *
 * With `etag`, the decision applies to exactly the version that the person saw. A list has no versions. Its
 * orders are not read first to learn them: customer and total never change, and the service approves an
 * order only while it is pending, in one write. A read would double the requests and prevent nothing.
 *
 * The focus begins on "Cancel": what cannot be undone takes two steps, Tab to "Approve" and Enter. Where a
 * reason is asked for, the focus begins there. Escape does what the first button says.
 */
export function DecisionDialog({ action, subjects, onClose }: DecisionDialogProps) {
  const run = useRun(action, subjects, onClose)
  const [first, ...others] = run.steps
  const props = { run, back: backOf(run) }
  return first && others.length === 0 ? <DecideOne {...props} step={first} /> : <DecideSeveral {...props} />
}
