import { useQuery } from '@tanstack/react-query'
import { Button } from 'react-aria-components/Button'
import { rolesQuery } from '../administration/queries.ts'
import { useMay } from '../auth/session.ts'
import { Check } from '../ui/check.tsx'
import type { Reading } from '../ui/draft.ts'
import { Field } from '../ui/field.tsx'
import { CloseIcon } from '../ui/icons.tsx'
import { approvalNumbers, type DraftRow, fromId } from './rows.ts'

interface RowProps {
  row: DraftRow
  number: number
  isOnly: boolean
  reading: Reading<string>
  /** A fault is shown once the person has left the field. */
  isChecked: boolean
  isReadOnly: boolean
  onChange(row: DraftRow): void
  onLeave(): void
  onRemove(): void
}

const checks = [
  ['selfApproval', 'Creator may approve'],
  ['services', 'Services may approve'],
  ['passkey', 'Signed with a passkey'],
] as const

/** The fields of one row. The first row begins at 0 and cannot be removed. */
export function PolicyRowFields(props: RowProps) {
  const { row, number, isReadOnly, onChange } = props
  return (
    <fieldset className="policy-row" disabled={isReadOnly}>
      <legend className="visually-hidden">Row {number}</legend>
      <From {...props} />
      <div className="field">
        <label htmlFor={`approvals-${row.key}`}>Approvals</label>
        <select
          id={`approvals-${row.key}`}
          className="input"
          value={row.approvals}
          onChange={(event) => onChange({ ...row, approvals: Number(event.target.value) })}
        >
          {approvalNumbers.map((count) => (
            <option key={count}>{count}</option>
          ))}
        </select>
      </div>
      <div className="policy-role">
        <Role row={row} onChange={onChange} />
      </div>
      <div className="stack gap-3">
        {checks.map(([name, label]) => (
          <Check key={name} isOn={row[name]} onTurn={(isOn) => onChange({ ...row, [name]: isOn })}>
            {label}
          </Check>
        ))}
      </div>
      {number > 1 && (
        <Button
          className="button button-quiet button-icon"
          aria-label={`Remove row ${number}`}
          onPress={props.onRemove}
        >
          <CloseIcon />
        </Button>
      )}
    </fieldset>
  )
}

/** A choice for people who may read the roles; others type its name. */
function Role({ row, onChange }: Pick<RowProps, 'row' | 'onChange'>) {
  const { data } = useQuery({ ...rolesQuery, enabled: useMay('Accounts.Manage') })
  const id = `role-${row.key}`
  const label = 'Role of one approver'
  const choose = (role: string) => onChange({ ...row, role: role || null })
  if (data === undefined) {
    return (
      <Field
        id={id}
        label={label}
        text={row.role ?? ''}
        fault={undefined}
        hint="Empty for any role."
        isRequired={false}
        input={{ dir: undefined, spellCheck: false }}
        onChange={(text) => choose(text.trim())}
      />
    )
  }
  const names = data.map(({ name }) => name)
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className="input"
        value={row.role ?? ''}
        onChange={({ target }) => choose(target.value)}
      >
        <option value="">Any</option>
        {[...new Set([...names, ...(row.role === null ? [] : [row.role])])].map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </div>
  )
}

function From({ row, number, isOnly, reading, isChecked, onChange, onLeave }: RowProps) {
  const id = fromId(row)
  if (number === 1) {
    return (
      <div className="field">
        <span className="label">From a total of</span>
        <span className="policy-zero">0</span>
        {!isOnly && <p className="field-hint">All other orders.</p>}
      </div>
    )
  }
  return (
    <Field
      id={id}
      label="From a total of"
      text={row.text}
      fault={isChecked && !reading.ok ? reading.fault : undefined}
      hint=""
      isRequired
      input={{ dir: undefined, inputMode: 'decimal', spellCheck: false }}
      onChange={(text) => onChange({ ...row, text })}
      onLeave={onLeave}
    />
  )
}
