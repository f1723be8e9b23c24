import { type ComponentProps, useEffect, useState } from 'react'
import type { Days } from './days.ts'

interface DayRangeProps {
  /** The field that the days are about. */
  name: string
  days: Days
  onChoose(days: Days): void
  /** Called on focus: the choices that follow are one history entry. */
  onFocus?(): void
}

/** The first and the last day, in the browser's date fields. */
export function DayRange({ name, days, onChoose, onFocus }: DayRangeProps) {
  return (
    <fieldset className="row gap-3 day-range" onFocus={onFocus}>
      <legend className="visually-hidden">{name}</legend>
      <DateField
        label="From"
        aria-label={`${name} from`}
        value={days.from}
        onChoose={(from) => onChoose({ ...days, from })}
      />
      <DateField
        label="Until"
        aria-label={`${name} until`}
        value={days.to}
        onChoose={(to) => onChoose({ ...days, to })}
      />
    </fieldset>
  )
}

interface DateFieldProps extends Omit<ComponentProps<'input'>, 'value'> {
  label: string
  value: string
  onChoose(date: string): void
}

/** Keeps a half-typed date, such as a year of two digits, until it is complete. */
function DateField({ label, value, onChoose, ...rest }: DateFieldProps) {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  return (
    <label className="row nowrap">
      <span className="soft">{label}</span>
      <input
        type="date"
        className="input"
        min="1970-01-01"
        max="9999-12-31"
        {...rest}
        value={typed}
        onBlur={() => setTyped(value)}
        onChange={({ target }) => {
          setTyped(target.value)
          if (target.validity.valid) onChoose(target.value)
        }}
      />
    </label>
  )
}
