import { type HTMLAttributes, type ReactNode, useEffect, useRef } from 'react'
import { Spoken } from './spoken.tsx'

interface FieldProps {
  id: string
  label: string
  text: string
  fault: string | undefined
  /** The line under the field while nothing is wrong. */
  hint: ReactNode
  /** How many characters are left, once that is worth knowing; negative when there are too many. */
  left?: number | undefined
  /** Read out once the person pauses. A fault is always read out. */
  spoken?: string | undefined
  isReadOnly?: boolean
  isRequired: boolean
  /** Has room for several lines. */
  isLong?: boolean
  /** Takes the focus when it appears, with the caret after any text that is already there. */
  hasFocus?: boolean
  input?: HTMLAttributes<HTMLElement>
  onChange(text: string): void
  onLeave?(): void
}

/** A field with its label, its counter, and what is wrong with it. */
export function Field(props: FieldProps) {
  const { id, label, text, fault, hint, left, spoken, isLong = false, hasFocus, onChange, onLeave } = props
  const field = useRef<HTMLTextAreaElement & HTMLInputElement>(null)
  useEffect(() => {
    if (!hasFocus) return
    field.current?.focus()
    field.current?.setSelectionRange(-1, -1)
  }, [hasFocus])
  const Input = isLong ? 'textarea' : 'input'
  return (
    <div className="field">
      <div className="row row-between">
        <label htmlFor={id}>{label}</label>
        <span id={`${id}-count`} className={left !== undefined && left < 0 ? 'field-error' : 'field-hint'}>
          {left !== undefined && counted(left)}
        </span>
      </div>
      <Input
        ref={field}
        id={id}
        value={text}
        dir="auto"
        autoComplete="off"
        required={props.isRequired}
        readOnly={props.isReadOnly}
        aria-invalid={fault !== undefined}
        aria-describedby={`${id}-message ${id}-count`}
        onChange={({ target }) => onChange(target.value)}
        onBlur={onLeave}
        {...(isLong && { rows: 3 })}
        {...props.input}
      />
      <p id={`${id}-message`} className={fault === undefined ? 'field-hint' : 'field-error'}>
        {fault ?? hint}
      </p>
      <Spoken text={fault ?? spoken ?? ''} />
    </div>
  )
}

function counted(left: number): string {
  const characters = Math.abs(left) === 1 ? 'character' : 'characters'
  return left < 0 ? `${-left} ${characters} too many` : `${left} ${characters} left`
}
