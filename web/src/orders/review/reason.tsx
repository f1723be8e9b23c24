import { Button } from 'react-aria-components/Button'
import { Field } from '../../ui/field.tsx'
import { actions } from '../decide/actions.ts'
import { placeOf } from '../decide/service.ts'
import { sendsOnEnter, useText } from '../free-text.ts'
import type { Identity } from '../identity.ts'
import type { ActionName } from '../states.ts'

interface ReasonProps {
  action: ActionName
  order: Identity
  onGiven(reason: string): void
  onCancel(): void
}

/** The field for the person's reason. Enter decides, Escape cancels. */
export function Reason({ action, order, onGiven, onCancel }: ReasonProps) {
  const { field, submit } = useText(placeOf(action, [order]), 'reason', 'Enter a reason.')
  function give() {
    const reason = submit()
    if (reason !== undefined) onGiven(reason)
  }
  const send = sendsOnEnter(give)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are pressed in the field inside
    <div
      className="sheet stack decide-in-card no-print"
      onKeyDown={(event) => (event.key === 'Escape' ? onCancel() : send(event))}
    >
      <Field
        {...field}
        label="Reason"
        hint={
          <>
            Anyone who can see the order can read it.{' '}
            <span className="keys-only">Press Enter to {action}, or Shift and Enter for a new line.</span>
          </>
        }
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
