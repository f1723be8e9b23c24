import { type ComponentProps, useId, useState } from 'react'
import { Spoken } from './spoken.tsx'

export interface InputProps extends Omit<ComponentProps<'input'>, 'required'> {
  label: string
  hint?: string
  /** Said when the field is left empty. Without it, the field is optional. */
  missing?: string
  /** The service's message about the field. */
  refusal?: string | undefined
  options?: readonly string[]
}

/** An input with its label, and what `Form` finds wrong with it. */
export function Input({ label, hint, missing, refusal, options, ...input }: InputProps) {
  const own = useId()
  const { id = own, 'aria-describedby': describedBy, onChange } = input
  const [ownFault, setFault] = useState<string>()
  const fault = ownFault ?? refusal
  const message = fault ?? hint
  const descriptions = [describedBy, message && `${id}-message`].filter(Boolean)
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        list={options && `${id}-options`}
        autoComplete="off"
        required={missing !== undefined}
        aria-invalid={fault !== undefined}
        {...input}
        aria-describedby={descriptions.join(' ') || undefined}
        onInvalid={({ currentTarget }) => setFault(faultOf(currentTarget.validity, missing))}
        onChange={(event) => {
          setFault(undefined)
          onChange?.(event)
        }}
      />
      {message && (
        <p id={`${id}-message`} className={fault === undefined ? 'field-hint' : 'field-error'}>
          {message}
        </p>
      )}
      <Spoken text={fault ?? ''} />
      {options && (
        <datalist id={`${id}-options`}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
    </div>
  )
}

function faultOf({ badInput, typeMismatch, valueMissing }: ValidityState, missing = ''): string {
  if (badInput) return 'Enter a complete date, or leave the field empty.'
  if (typeMismatch) return 'Enter an email address, such as ann@example.com.'
  return valueMissing ? missing : 'Enter a date up to 31 December 9999.'
}
