import { Button } from 'react-aria-components/Button'
import { CloseIcon } from '../ui/icons.tsx'
import { approvalNumbers, type DraftRow, type FromReading, fromId } from './rows.ts'

interface RowProps {
  row: DraftRow
  number: number
  reading: FromReading
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
      <div className="stack gap-3 policy-checks">
        {checks.map(([name, label]) => (
          <label key={name} className="row nowrap">
            <input
              type="checkbox"
              checked={row[name]}
              onChange={({ target }) => onChange({ ...row, [name]: target.checked })}
            />
            {label}
          </label>
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

function From({ row, number, reading, isChecked, onChange, onLeave }: RowProps) {
  const id = fromId(row)
  if (number === 1) {
    return (
      <div className="field policy-from">
        <span className="label">From a total of</span>
        <span className="policy-zero">0</span>
        <p className="field-hint">All other orders.</p>
      </div>
    )
  }
  const fault = isChecked && !reading.ok ? reading.fault : undefined
  return (
    <div className="field policy-from">
      <label htmlFor={id}>From a total of</label>
      <input
        id={id}
        value={row.text}
        inputMode="decimal"
        autoComplete="off"
        spellCheck={false}
        required
        aria-invalid={fault !== undefined}
        aria-describedby={`${id}-fault`}
        onChange={(event) => onChange({ ...row, text: event.target.value })}
        onBlur={onLeave}
      />
      <p id={`${id}-fault`} className="field-error policy-fault" role="status">
        {fault}
      </p>
    </div>
  )
}
