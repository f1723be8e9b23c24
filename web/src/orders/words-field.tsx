import { type RefObject, useEffect } from 'react'
import { Spoken } from '../ui/spoken.tsx'
import { lettersLeft } from './written.ts'

interface WordsFieldProps {
  id: string
  label: string
  text: string
  hint: string
  fault: string | undefined
  isReadOnly: boolean
  isRequired: boolean
  field: RefObject<HTMLTextAreaElement | null>
  /** From the beginning. */
  hasFocus?: boolean
  onChange(text: string): void
}

/** Where a person writes a reason or a note: a few lines. */
export function WordsField(props: WordsFieldProps) {
  const { id, label, text, hint, fault, field, hasFocus } = props
  const left = lettersLeft(text)
  useEffect(() => {
    if (!hasFocus) return
    field.current?.focus()
    // Behind what was written before.
    field.current?.setSelectionRange(-1, -1)
  }, [hasFocus, field])
  return (
    <div className="field words-field">
      <div className="row row-between">
        <label htmlFor={id}>{label}</label>
        <span id={`${id}-count`} className={left !== undefined && left < 0 ? 'field-error' : 'field-hint'}>
          {left !== undefined && (left < 0 ? `${-left} too many` : `${left} left`)}
        </span>
      </div>
      <textarea
        ref={field}
        id={id}
        value={text}
        dir="auto"
        rows={3}
        required={props.isRequired}
        readOnly={props.isReadOnly}
        aria-invalid={fault !== undefined}
        aria-describedby={`${id}-message ${id}-count`}
        onChange={(event) => props.onChange(event.target.value)}
      />
      <p id={`${id}-message`} className={fault === undefined ? 'field-hint' : 'field-error'}>
        {fault ?? hint}
      </p>
      <Spoken text={fault ?? ''} />
    </div>
  )
}
