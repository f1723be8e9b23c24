import { type KeyboardEvent, useRef, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { deeds } from '../decide/actions.ts'
import { placeOf } from '../decide/service.ts'
import type { Identity } from '../identity.ts'
import { WordsField } from '../words-field.tsx'
import { readWritten, useWritten } from '../written.ts'

interface ReasonProps {
  order: Identity
  onGiven(reason: string): void
  onCancel(): void
}

/** Why the order is rejected: Enter rejects it, Shift and Enter begins another line, Escape leaves it as it is. */
export function Reason({ order, onGiven, onCancel }: ReasonProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  const [text, write] = useWritten(placeOf(deeds.reject, order.id))
  const [isChecked, setChecked] = useState(false)
  const reading = readWritten(text, 'Write why.')
  function give() {
    setChecked(true)
    if (reading.ok) onGiven(reading.text)
    else field.current?.focus()
  }
  function press(event: KeyboardEvent) {
    if (event.key === 'Escape') return onCancel()
    // Enter may also end a word that is being composed.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    if (event.target !== field.current) return
    event.preventDefault()
    give()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what is pressed is the field inside
    <div className="card review-reason" onKeyDown={press}>
      <WordsField
        id="reason"
        label="Reason"
        hint="Anyone who may see the order can read it. Press Enter to reject, or Shift and Enter for a new line."
        text={text}
        fault={isChecked && !reading.ok ? reading.fault : undefined}
        isReadOnly={false}
        isRequired
        field={field}
        onChange={write}
        hasFocus
      />
      <div className="row dialog-actions">
        <Button className="button" onPress={onCancel}>
          Cancel
        </Button>
        <Button className="button button-primary" onPress={give}>
          Reject
        </Button>
      </div>
    </div>
  )
}
