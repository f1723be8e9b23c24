import { Button } from 'react-aria-components/Button'
import { useUser } from '../../auth/session.ts'
import { Check } from '../../ui/check.tsx'
import { observable } from '../../ui/observable.ts'
import { inBrowser, personal } from '../../ui/persist.ts'
import { actions } from '../decide/actions.ts'
import { QuestionFrame } from '../decide/dialog/frame.tsx'
import type { ActionName } from '../states.ts'

/** Whether a review asks before each decision; `undefined`: this person has not chosen yet. */
export type Asks = boolean | undefined

/** Counts changes of the choice, so that it is read again after each. */
const changes = observable(0)

export function useAsks(): [asks: Asks, set: (asks: boolean) => void] {
  const name = personal('review-asks', useUser().id)
  changes.use()
  const kept = inBrowser.read(name)
  return [
    kept === null ? undefined : kept === 'yes',
    (asks) => {
      inBrowser.write(name, asks ? 'yes' : 'no')
      changes.set(changes.get() + 1)
    },
  ]
}

/** Changes the choice at any time. */
export function AskSwitch() {
  const [asks, set] = useAsks()
  if (asks === undefined) return null
  return (
    <Check className="review-ask soft small no-print" isOn={asks} onTurn={set}>
      Confirm each decision
    </Check>
  )
}

interface AskDialogProps {
  action: ActionName
  onAnswer(asks: boolean): void
  onCancel(): void
}

/** Shown once to each person in this browser, at their first decision in a review. */
export function AskDialog({ action, onAnswer, onCancel }: AskDialogProps) {
  return (
    <QuestionFrame
      title="Skip the confirmation?"
      onLeave={onCancel}
      description={
        <>
          <p>You can see the whole order here, so there’s no need to confirm each decision.</p>
          <p>
            Your decision is then sent after five seconds. Until then you can undo it
            <span className="keys-only">
              {' '}
              with <kbd className="key">u</kbd>
            </span>
            . After that it is final.
          </p>
        </>
      }
    >
      <div className="row dialog-actions">
        <Button className="button" onPress={onCancel}>
          Cancel
        </Button>
        <Button className="button" onPress={() => onAnswer(true)}>
          Confirm each time
        </Button>
        <Button className="button button-primary" autoFocus onPress={() => onAnswer(false)}>
          {actions[action].name} without confirming
        </Button>
      </div>
    </QuestionFrame>
  )
}
