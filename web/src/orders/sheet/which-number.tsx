import { Segments } from '../../ui/segments.tsx'
import { notation } from '../create/notation.ts'
import { readTotal } from '../create/total-input.ts'
import { type Decimal, withDecimal } from './notation.ts'
import { readWith } from './sending.ts'

/** Asks which of two numbers a total is, where no row decides it. */
export function WhichNumber({ doubt, decimal }: { doubt: string; decimal: Decimal | undefined }) {
  const options = ([',', '.'] as const).map((value) => ({ label: meaningOf(doubt, value), value }))
  return (
    <div className="stack gap-2">
      <p>
        <strong>“{doubt.trim()}” means</strong>
      </p>
      <Segments
        name="sheet-notation"
        legend={`“${doubt.trim()}” means`}
        options={options}
        value={decimal}
        onChoose={(decimal) => readWith({ decimal })}
      />
      {decimal === undefined && <p className="field-hint">Choose one before you create the orders.</p>}
    </div>
  )
}

function meaningOf(text: string, decimal: Decimal): string {
  const reading = readTotal(text, withDecimal(notation, decimal))
  return reading.ok ? reading.meaning : text
}
