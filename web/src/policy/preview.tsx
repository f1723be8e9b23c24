import { useQueries, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { isPassing } from '../api/problem.ts'
import { countQuery } from '../orders/address/queries.ts'
import { ruleInWords } from '../orders/policy.ts'
import { useCalm } from '../ui/calm.ts'
import { formatOrders } from '../ui/format.ts'
import { Note } from '../ui/note.tsx'
import { Section } from '../ui/section.tsx'
import { type WireRow, warningsQuery } from './queries.ts'
import { fromInWords, warningInWords } from './words.ts'

const days = 30
const calmMilliseconds = 400

/** The meaning of the rows, and how many orders of the last days they would have met. */
export function PolicyPreview({ rows }: { rows: readonly WireRow[] | undefined }) {
  // Counted once typing has stopped.
  const shown = useCalm(rows, calmMilliseconds)
  return (
    <Section title="What this means">
      {shown === undefined ? (
        <p className="soft">Enter valid totals to see the preview.</p>
      ) : (
        <>
          <Warnings rows={shown} />
          <Rules rows={shown} />
        </>
      )}
    </Section>
  )
}

/** Always rendered, because screen readers watch it. */
function Warnings({ rows }: { rows: readonly WireRow[] }) {
  const { data: warnings = [] } = useQuery(warningsQuery(rows))
  const lines = warnings.map((warning) => warningInWords(warning, rows.length === 1))
  return (
    <div role="status">
      {lines.length > 0 && <Note kind="warning" title="Orders could get stuck" lines={lines} />}
    </div>
  )
}

/** The rules in words, each with the number of orders that it would have met. */
function Rules({ rows }: { rows: readonly WireRow[] }) {
  const [since] = useState(() => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10))
  const counts = useQueries({
    queries: rows.map(({ from }, index) => {
      const below = rows[index + 1]?.from
      const end = below === undefined ? '' : ` AND total<${below}`
      const query = countQuery(`createdAtUtc>=${since}T00:00:00Z AND total>=${from}${end}`)
      return { ...query, retry: (_tries: number, failure: unknown) => isPassing(failure) }
    }),
  })
  return (
    <>
      <ol className="stack gap-3">
        {rows.map((row, index) => (
          <li key={row.from} className="row row-between nowrap">
            <span>
              <strong>{fromInWords(row, rows.length === 1)}</strong>: {ruleInWords(row)}
            </span>
            <span className="number soft small">{countWords(counts[index])}</span>
          </li>
        ))}
      </ol>
      <p className="soft small ruled">The numbers count the orders of the last {days} days.</p>
    </>
  )
}

function countWords(count: { data?: number | undefined; isError: boolean } | undefined): string {
  if (count?.data !== undefined) return formatOrders(count.data)
  return count?.isError ? 'not counted' : '…'
}
