interface SegmentsProps<Value> {
  name: string
  legend: string
  options: readonly { label: string; value: Value }[]
  /** Undefined if none is chosen. */
  value: Value | undefined
  onChoose(value: Value): void
}

/** A choice of a few options that are all visible. */
export function Segments<Value>({ name, legend, options, value, onChoose }: SegmentsProps<Value>) {
  return (
    <fieldset className="box segments">
      <legend className="visually-hidden">{legend}</legend>
      {options.map((option) => (
        <label key={option.label} className="segment">
          <input
            className="cover"
            type="radio"
            name={name}
            checked={option.value === value}
            onChange={() => onChoose(option.value)}
          />
          {option.label}
        </label>
      ))}
    </fieldset>
  )
}
