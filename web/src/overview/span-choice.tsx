import { useNavigate } from '@tanstack/react-router'
import { defaultSpan, type Span, spans } from './span.ts'

/** How many days are in sight. Kept in the address; it adds no step to the way back. */
export function SpanChoice({ span }: { span: Span }) {
  const navigate = useNavigate()
  function choose(next: Span) {
    const search = next === defaultSpan ? {} : { days: next }
    void navigate({ to: '/', search, replace: true, resetScroll: false })
  }
  return (
    <fieldset className="span-choice">
      <legend className="visually-hidden">Days in sight</legend>
      {spans.map((days) => (
        <label key={days}>
          <input type="radio" name="days" checked={days === span} onChange={() => choose(days)} />
          <span>{days} days</span>
        </label>
      ))}
    </fieldset>
  )
}
