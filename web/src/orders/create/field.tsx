import type { ReactNode } from 'react'
import { Spoken } from '../../ui/spoken.tsx'
import { type CustomerReading, charactersLeft } from './customer-input.ts'
import type { FieldName } from './form.ts'
import { notation } from './notation.ts'
import type { TotalReading } from './total-input.ts'

interface FieldProps {
  text: string
  /** The person is done with it: what is wrong is told from now on, while they mend it. */
  isChecked: boolean
  isReadOnly: boolean
  /** What the service found. */
  refusal: string | undefined
  onChange(text: string): void
  onLeave(): void
}

export function CustomerField({ reading, ...props }: FieldProps & { reading: CustomerReading }) {
  const left = charactersLeft(props.text)
  const fault = props.refusal ?? (props.isChecked && !reading.ok ? reading.fault : undefined)
  return (
    <Field
      {...props}
      name="customer"
      label="Customer"
      fault={fault}
      aside={
        left !== undefined && <span className={left < 0 ? 'field-error' : 'field-hint'}>{count(left)}</span>
      }
    >
      <span className="field-hint">A person or a company, up to 200 characters.</span>
    </Field>
  )
}

function count(left: number): string {
  const characters = Math.abs(left) === 1 ? 'character' : 'characters'
  return left < 0 ? `${-left} ${characters} too many` : `${left} ${characters} left`
}

export function TotalField({ reading, ...props }: FieldProps & { reading: TotalReading }) {
  const fault = props.refusal ?? (props.isChecked && !reading.ok ? reading.fault : undefined)
  const meaning = reading.ok ? meaningOf(reading) : undefined
  return (
    <Field {...props} name="total" label="Total" fault={fault} spoken={meaning}>
      {reading.ok ? (
        <span className={reading.otherwise === undefined ? 'create-meaning' : 'create-meaning create-doubt'}>
          Means <strong>{reading.meaning}</strong>
          {reading.otherwise !== undefined && `, not ${reading.otherwise}`}
        </span>
      ) : (
        <span className="field-hint">
          For example {notation.write('1250.5')}, with up to 4 decimal places.
        </span>
      )}
    </Field>
  )
}

function meaningOf({ meaning, otherwise }: TotalReading & { ok: true }): string {
  return otherwise === undefined ? `Means ${meaning}` : `Means ${meaning}, not ${otherwise}`
}

interface FrameProps extends Omit<FieldProps, 'refusal'> {
  name: FieldName
  label: string
  fault: string | undefined
  /** What is read out once the person pauses; a fault is in any case. */
  spoken?: string | undefined
  aside?: ReactNode
  /** The line under the field while nothing is wrong. */
  children: ReactNode
}

function Field(props: FrameProps) {
  const { name, label, text, fault, spoken, aside, children } = props
  return (
    <div className="field create-field">
      <div className="row row-between">
        <label htmlFor={name}>{label}</label>
        <span id={`${name}-count`}>{aside}</span>
      </div>
      <input
        id={name}
        value={text}
        dir={name === 'customer' ? 'auto' : undefined}
        className={name === 'total' ? 'create-total' : undefined}
        inputMode={name === 'total' ? 'decimal' : 'text'}
        autoComplete="off"
        spellCheck={false}
        required
        readOnly={props.isReadOnly}
        aria-invalid={fault !== undefined}
        aria-describedby={`${name}-message ${name}-count`}
        onChange={(event) => props.onChange(event.target.value)}
        onBlur={props.onLeave}
      />
      <p id={`${name}-message`} className="create-message">
        {fault === undefined ? children : <span className="field-error">{fault}</span>}
      </p>
      <Spoken text={fault ?? spoken ?? ''} />
    </div>
  )
}
