import type { ActionName } from '../../states.ts'
import type { Subject } from '../decisions.ts'
import { DecideOne } from './one.tsx'
import { backOf, useRun } from './run.ts'
import { DecideSeveral } from './several.tsx'

interface DecisionDialogProps {
  action: ActionName
  /** 1 to 100 orders to approve or reject, or one to withdraw. Fixed when the dialog opens. */
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
 * The focus begins on the button that decides, so the same keys decide everywhere: `a`, then Enter. Where a
 * reason is asked for, the focus begins there. Escape does what the first button says.
 */
export function DecisionDialog({ action, subjects, onClose }: DecisionDialogProps) {
  const run = useRun(action, subjects, onClose)
  const [first, ...others] = run.steps
  const props = { run, back: backOf(run) }
  return first && others.length === 0 ? <DecideOne {...props} step={first} /> : <DecideSeveral {...props} />
}
