import type { useForm } from '../../ui/draft.ts'
import { Field } from '../../ui/field.tsx'
import { charactersLeft as charactersLeftIn } from '../free-text.ts'
import { charactersLeft } from './customer-input.ts'
import type { fields } from './form.ts'
import { notation } from './notation.ts'
import type { TotalReading } from './total-input.ts'

interface FieldProps extends ReturnType<ReturnType<typeof useForm<typeof fields>>['field']> {
  isReadOnly: boolean
  /** The service's message about the field. */
  refusal: string | undefined
}

export function CustomerField({ refusal, ...props }: FieldProps) {
  return (
    <Field
      {...props}
      fault={refusal ?? props.fault}
      label="Customer"
      hint="A person or a company, up to 200 characters."
      left={charactersLeft(props.text)}
      isRequired
      input={{ spellCheck: false }}
    />
  )
}

export function NoteField({ refusal = '', onLeave: _, ...props }: FieldProps) {
  return (
    <Field
      {...props}
      label="Note (optional)"
      hint="The approver reads it. It stays in the history of the order."
      fault={refusal || props.fault}
      left={charactersLeftIn(props.text)}
      isRequired={false}
      isLong
    />
  )
}

interface TotalFieldProps extends FieldProps {
  reading: TotalReading
  /** The policy's rule for this total, as far as it is known. */
  rule: string | undefined
}

export function TotalField({ reading, rule, refusal, ...props }: TotalFieldProps) {
  return (
    <Field
      {...props}
      label="Total"
      fault={refusal ?? props.fault}
      hint={
        reading.ok ? (
          <Meaning {...reading} />
        ) : (
          `For example ${notation.write('1250.5')}, with up to 4 decimal places.`
        )
      }
      spoken={reading.ok ? [meaningOf(reading), rule].filter(Boolean).join('. ') : undefined}
      isRequired
      input={{ className: 'create-total', dir: undefined, inputMode: 'decimal', spellCheck: false }}
    />
  )
}

function Meaning({ meaning, otherwise }: TotalReading & { ok: true }) {
  return (
    <span className={otherwise === undefined ? undefined : 'create-doubt'}>
      Means <strong>{meaning}</strong>
      {otherwise !== undefined && `, not ${otherwise}`}
    </span>
  )
}

function meaningOf({ meaning, otherwise }: TotalReading & { ok: true }): string {
  return otherwise === undefined ? `Means ${meaning}` : `Means ${meaning}, not ${otherwise}`
}
