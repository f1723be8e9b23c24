import './days.css'
import type { components } from '../../../client/src/schema.ts'
import { formatCount, formatDay, formatLongDay, formatOrders } from '../ui/format.ts'
import { Section } from '../ui/section.tsx'
import { countOf, daysInWords } from './words.ts'

type Day = components['schemas']['OrderDay']

/** How many orders were created on each day, as bars and in words. At least one day; the last is today. */
export function Days({ days }: { days: readonly Day[] }) {
  const counts = days.map((day) => ({ date: day.date, count: countOf(day) }))
  const most = Math.max(...counts.map(({ count }) => count))
  const [first] = days
  return (
    <Section title="Orders per day" className="gap-2">
      <div className="days" aria-hidden="true">
        <span className="days-most">{formatCount(most)}</span>
        {counts.map(({ date, count }) => (
          <span key={date} className="day" title={`${formatLongDay(date)}: ${formatOrders(count)}`}>
            {count > 0 && <i style={{ height: `${(100 * count) / most}%` }} />}
          </span>
        ))}
      </div>
      <div className="row row-between soft small days-ends" aria-hidden="true">
        <span>{formatDay(first?.date ?? '')}</span>
        <span>Today</span>
      </div>
      <p className="soft small">{daysInWords(counts)}</p>
    </Section>
  )
}
