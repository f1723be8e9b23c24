import { Button } from 'react-aria-components/Button'
import { Dialog, Heading } from 'react-aria-components/Dialog'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import { useUser } from '../../auth/session.ts'
import { observable } from '../../ui/observable.ts'
import { inBrowser, personal } from '../../ui/persist.ts'
import type { Deed } from '../decide/actions.ts'

/** Whether a review asks before each decision; `undefined`: this person has not been asked that yet. */
export type Asks = boolean | undefined

/** Counts the changes: what a setting says is read anew after each. */
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

/** The same choice at any later time. */
export function AskSwitch() {
  const [asks, set] = useAsks()
  if (asks === undefined) return null
  return (
    <label className="check review-ask soft small no-print">
      <input type="checkbox" checked={asks} onChange={({ target }) => set(target.checked)} />
      Ask before each decision
    </label>
  )
}

interface AskDialogProps {
  /** What the person was about to do. */
  deed: Deed
  onAnswer(asks: boolean): void
  onCancel(): void
}

/** Once for each person in this browser, at their first decision in a review. */
export function AskDialog({ deed, onAnswer, onCancel }: AskDialogProps) {
  return (
    <ModalOverlay className="dialog-scrim" isOpen onOpenChange={onCancel}>
      <Modal className="dialog">
        <Dialog role="alertdialog" aria-describedby="review-ask">
          <Heading slot="title" level={2}>
            Decide without being asked?
          </Heading>
          <div id="review-ask" className="stack">
            <p>
              A review shows the whole order, so it need not ask again before you {deed.name.toLowerCase()}{' '}
              it.
            </p>
            <p>
              Your decision is then sent after five seconds. Until then you can undo it with{' '}
              <kbd className="key">u</kbd>. After that it is final.
            </p>
          </div>
          <div className="row dialog-actions">
            <Button className="button" onPress={onCancel}>
              Cancel
            </Button>
            <Button className="button" onPress={() => onAnswer(true)}>
              Ask each time
            </Button>
            <Button className="button button-primary" autoFocus onPress={() => onAnswer(false)}>
              {deed.name} without asking
            </Button>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}
