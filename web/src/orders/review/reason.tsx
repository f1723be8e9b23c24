import type { KeyboardEvent } from 'react'
import { Button } from 'react-aria-components/Button'
import { actions } from '../decide/actions.ts'
import { placeOf } from '../decide/service.ts'
import { Field } from '../field.tsx'
import { useText } from '../free-text.ts'
import type { Identity } from '../identity.ts'
import type { ActionName } from '../states.ts'

interface ReasonProps {
  action: ActionName
  order: Identity
  onGiven(reason: string): void
  onCancel(): void
}

/** Why the person decides so. Enter decides, Shift and Enter begins a new line, Escape cancels. */
export function Reason({ action, order, onGiven, onCancel }: ReasonProps) {
  const { field, submit } = useText(placeOf(action, order.id), 'reason', 'Enter a reason.')
  function give() {
    const reason = submit()
    if (reason !== undefined) onGiven(reason)
  }
  function press(event: KeyboardEvent) {
    if (event.key === 'Escape') return onCancel()
    // Enter may also end a word that is being composed.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    if (!(event.target instanceof HTMLTextAreaElement)) return
    event.preventDefault()
    give()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are pressed in the field inside
    <div className="card stack review-reason no-print" onKeyDown={press}>
      <Field
        {...field}
        label="Reason"
        hint={`Anyone who can see the order can read it. Press Enter to ${action}, or Shift and Enter for a new line.`}
        isReadOnly={false}
        isRequired
      />
      <div className="row dialog-actions">
        <Button className="button" onPress={onCancel}>
          Cancel
        </Button>
        <Button className="button button-primary" onPress={give}>
          {actions[action].name}
        </Button>
      </div>
    </div>
  )
}
