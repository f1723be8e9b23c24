import type { KeyboardEvent } from 'react'
import { Button } from 'react-aria-components/Button'
import { Field } from '../../ui/field.tsx'
import { actions } from '../decide/actions.ts'
import { placeOf } from '../decide/service.ts'
import { useText } from '../free-text.ts'
import type { Identity } from '../identity.ts'
import type { ActionName } from '../states.ts'

interface ReasonProps {
  action: ActionName
  order: Identity
  onGiven(reason: string): void
  onCancel(): void
}

/** The field for the person's reason. Enter decides, Shift and Enter begin a new line, Escape cancels. */
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
    event.preventDefault()
    give()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are pressed in the field inside
    <div className="sheet stack decide-in-card no-print" onKeyDown={press}>
      <Field
        {...field}
        label="Reason"
        hint={`Anyone who can see the order can read it. Press Enter to ${action}, or Shift and Enter for a new line.`}
        isRequired
      />
      <div className="row dialog-actions">
        <Button className="button" onPress={onCancel}>
          Cancel
        </Button>
        <Button className="button button-danger" onPress={give}>
          {actions[action].name}
        </Button>
      </div>
    </div>
  )
}
